# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""How does one trial become part of a run, whole or not at all?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from evalkit.trajectory.atomic import TEMPORARY
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.layout import (
    TABLES,
    TableName,
    committed_files,
    current_files,
    is_table_file,
    next_generation,
    part_name,
)
from evalkit.trajectory.parquet import read_groups, write_parquet
from evalkit.trajectory.rows import effects_table, steps_table, trials_table
from evalkit.trajectory.schema import EFFECTS, STEPS, TRIALS
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial

Attempt: TypeAlias = tuple[str, str, str, int, str, int]

_ATTEMPT = ("suite", "task_id", "variant", "epoch", "agent", "attempt")
_STEPS_AT_ONCE = 1000


def table_files(run: Path, table: TableName) -> list[str]:
    """Names of the finished files in a table's folder."""
    folder = run / table
    return [entry.name for entry in folder.iterdir() if is_table_file(entry.name)] if folder.is_dir() else []


def open_generation(run: Path) -> int:
    """The generation that further parts belong to: no compact file of any table stands for it."""
    return max(next_generation(table_files(run, table)) for table in ("trials", "steps", "effects"))


def attempt_of(trial: Trial) -> Attempt:
    """What at most one trial of a run is."""
    return (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.agent, trial.attempt)


def committed_trials(run: Path) -> tuple[set[str], set[Attempt]]:
    """Ids and attempts of all committed trials, replaced ones too."""
    ids: set[str] = set()
    attempts: set[Attempt] = set()
    for name in current_files(table_files(run, "trials")):
        for table in read_groups(str(run / "trials" / name), TRIALS, columns=["trial_id", *_ATTEMPT]):
            ids.update(table.column("trial_id").to_pylist())
            attempts.update(zip(*(table.column(part).to_pylist() for part in _ATTEMPT), strict=True))
    return ids, attempts


def commit_parts(
    run: Path, generation: int, trial: Trial, steps: Sequence[Step], effects: Sequence[Effect]
) -> None:
    """Write steps, then effects, then the row of `trials` that makes them count.

    Where that fails, nothing of the trial is left. What an earlier attempt to commit the same trial left
    behind when its process died is replaced.
    """
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


def remove_leftovers(run: Path) -> None:
    """Delete what does not count: unfinished files, superseded ones, parts of trials never committed."""
    trials = table_files(run, "trials")
    for table in ("steps", "effects"):
        names = table_files(run, table)
        for name in set(names) - set(committed_files(names, trials)):
            (run / table / name).unlink(missing_ok=True)
    # Last, because a part of `trials` is what vouches for those of the other tables.
    for name in set(trials) - set(current_files(trials)):
        (run / "trials" / name).unlink(missing_ok=True)
    for folder in (run, *(run / table for table in TABLES)):
        for leftover in folder.glob(f".*{TEMPORARY}"):
            leftover.unlink(missing_ok=True)
    for leftover in (run / "artifacts").glob(".part-*"):
        leftover.unlink(missing_ok=True)
