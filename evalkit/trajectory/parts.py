# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""How does one trial become part of a run, whole or not at all?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from evalkit.errors import ConfigError
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.folder import check_folder, delete_files, names_in
from evalkit.trajectory.layout import (
    TABLES,
    TableName,
    artifacts_folder,
    committed_files,
    current_files,
    file_key,
    finished_files,
    is_part,
    is_unfinished,
    is_unfinished_artifact,
    next_generation,
    part_name,
)
from evalkit.trajectory.parquet import check_parquet, read_groups, write_parquet
from evalkit.trajectory.rows import effects_table, steps_table, trials_table
from evalkit.trajectory.schema import EFFECTS, STEPS, TRIALS
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial

Attempt: TypeAlias = tuple[str, str, str, int, str, int]

_ATTEMPT = ("suite", "task_id", "variant", "epoch", "agent", "attempt")
_STEPS_AT_ONCE = 1000


def table_files(run: Path, table: TableName) -> list[str]:
    """Names of the finished files in a table's folder. Raises ConfigError for one that is not evalkit's."""
    return finished_files(names_in(run / table), table, str(run / table))


def open_generation(run: Path) -> int:
    """The generation that further parts belong to: no compact file of any table stands for it."""
    return max(next_generation(table_files(run, table)) for table in ("trials", "steps", "effects"))


def attempt_of(trial: Trial) -> Attempt:
    """What at most one trial of a run is."""
    return (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.agent, trial.attempt)


def committed_trials(run: Path) -> tuple[set[str], set[Attempt]]:
    """Ids and attempts of all committed trials, replaced ones too.

    Raises ConfigError for a trial that is there twice.
    """
    ids: dict[str, str] = {}
    attempts: set[Attempt] = set()
    for name in current_files(table_files(run, "trials")):
        path = str(run / "trials" / name)
        for table in read_groups(path, TRIALS, columns=["trial_id", *_ATTEMPT]):
            place_trials(ids, table.column("trial_id").to_pylist(), path)
            attempts.update(zip(*(table.column(part).to_pylist() for part in _ATTEMPT), strict=True))
    return set(ids), attempts


def place_trials(places: dict[str, str], ids: Iterable[str | None], path: str) -> None:
    """Note in which file each of these trials is.

    Raises ConfigError for a trial that is noted already, and for one in a part of another trial.
    """
    name = path.rpartition("/")[2]
    for trial_id in ids:
        if trial_id is None or (is_part(name) and not name.endswith(f"-{file_key(trial_id)}.parquet")):
            raise ConfigError(
                f"holds the trial {trial_id!r}, which does not belong into a file of this name",
                where=path,
                hint="Restore the file, or move it out of the run.",
            )
        if trial_id in places:
            raise ConfigError(
                f"the trial {trial_id!r} is there twice: also in {places[trial_id]}",
                where=path,
                hint="Move one of the two files out of the run; nothing is counted twice.",
            )
        places[trial_id] = path


def commit_parts(
    run: Path, generation: int, trial: Trial, steps: Sequence[Step], effects: Sequence[Effect]
) -> None:
    """Write steps, then effects, then the row of `trials` that makes them count.

    Where that fails, nothing of the trial is left. What an earlier attempt to commit the same trial left
    behind when its process died is replaced.
    """
    for table in ("steps", "effects", "trials"):
        check_folder(run / table)
    trial = cleaned(trial)
    name = part_name(generation, trial.trial_id)
    steps_part, effects_part = run / "steps" / name, run / "effects" / name
    try:
        if steps:
            write_parquet(steps_part, STEPS, _step_tables(trial.trial_id, steps))
        else:
            steps_part.unlink(missing_ok=True)
        if effects:
            write_parquet(effects_part, EFFECTS, [effects_table([cleaned(effect) for effect in effects])])
        else:
            effects_part.unlink(missing_ok=True)
        write_parquet(run / "trials" / name, TRIALS, [trials_table([trial])])
    except Exception:
        steps_part.unlink(missing_ok=True)
        effects_part.unlink(missing_ok=True)
        raise


def _step_tables(trial_id: str, steps: Sequence[Step]) -> Iterator[object]:
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        yield steps_table(trial_id, [cleaned(step) for step in steps[start : start + _STEPS_AT_ONCE]])


def leftovers(run: Path) -> list[tuple[Path, list[str]]]:
    """What does not count, folder by folder in the order in which it may be deleted.

    That is unfinished files, superseded ones, and parts of trials never committed, all under names that only
    evalkit gives.
    """
    trials = table_files(run, "trials")
    found: list[tuple[Path, list[str]]] = []
    for table in ("steps", "effects"):
        names = table_files(run, table)
        found.append((run / table, sorted(set(names) - set(committed_files(names, trials)))))
    # Last, because a part of `trials` is what vouches for those of the other tables.
    found.append((run / "trials", sorted(set(trials) - set(current_files(trials)))))
    for folder in (run, *(run / table for table in TABLES)):
        # The run's own folder may be a link, for that is what the user named.
        names = names_in(folder, link=folder == run)
        found.append((folder, list(filter(is_unfinished, names))))
    artifacts = artifacts_folder(run)
    found.append((artifacts, list(filter(is_unfinished_artifact, names_in(artifacts)))))
    return [(folder, names) for folder, names in found if names]


def remove_leftovers(run: Path) -> None:
    """Delete what does not count. Raises ConfigError where what stands for it instead is damaged."""
    for folder, names in leftovers(run):
        if folder.name in TABLES and folder != run:
            for name in table_files(run, folder.name):
                if name.startswith("compact-") and name not in names:
                    check_parquet(str(folder / name))
        delete_files(folder, names, link=folder == run)
