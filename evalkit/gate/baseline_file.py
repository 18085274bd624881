"""How does a baseline lie in a repository?

As JSON with one line for each agent and task, so that a change of it can be read in a review. It holds per task and
epoch what a gate needs, and nothing that was said or done: status, reward, the trial's own numbers, and the scores.
"""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalkit.errors import ConfigError
from evalkit.gate.baseline import Acceptance, Baseline
from evalkit.gate.side import PlannedKey, Side, SideRun
from evalkit.gate.trial_number import TRIAL_NUMBERS
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials
from evalkit.trajectory.trial import Status

FORMAT = "evalkit-baseline"
VERSION = 1
_LETTERS: Mapping[str, str] = {"passed": "p", "failed": "f", "unscored": "u"}
_STATUS: Mapping[str, Status] = {"p": "passed", "f": "failed", "u": "unscored"}
_AGAIN = "Accept the runs again: evalkit baseline accept RUN"

Key = tuple[int, str, str, str, str]
"""Run, agent, suite, task and variant."""
Text = Annotated[str, Field(min_length=1)]
Value = Annotated[float, Field(allow_inf_nan=False)] | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Accepted(_Part):
    at: Text
    by: Text
    why: Text


class _Run(_Part):
    run_id: Text
    created_at: Text
    git_commit: str | None
    suites: dict[str, str | None]
    planned: bool
    settings: dict[str, dict[str, str]]
    accepted: _Accepted


class _Scores(_Part):
    scorer: Text
    metric: Text
    versions: list[str]
    references: list[str]


class _Task(_Part):
    run: Annotated[int, Field(ge=0)]
    agent: Text
    suite: Text
    task: Text
    variant: Text
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    planned: list[Annotated[int, Field(ge=0)]] | None = None
    digest: str | None = None
    grader: list[str | None] = []
    epochs: list[Annotated[int, Field(ge=0)]] = []
    status: Annotated[str, Field(pattern=r"^[pfu]*$")] = ""
    numbers: dict[str, list[Value]] = {}
    scores: dict[str, list[Value]] = {}


class _File(_Part):
    format: Literal["evalkit-baseline"]
    version: Literal[1]
    runs: Annotated[list[_Run], Field(min_length=1)]
    scores: list[_Scores]
    tasks: list[_Task]


def baseline_text(baseline: Baseline) -> str:
    """The content of the file: the same bytes for the same baseline."""
    side = baseline.side
    head = {
        "format": FORMAT,
        "version": VERSION,
        "runs": [
            {
                "run_id": run.run_id,
                "created_at": run.created_at,
                "git_commit": run.git_commit,
                "suites": _suites(side, number),
                "planned": run.planned is not None,
                "settings": {agent: dict(own) for agent, own in run.settings.items()},
                "accepted": {"at": own.at, "by": own.by, "why": own.why},
            }
            for number, (run, own) in enumerate(zip(side.runs, baseline.accepted, strict=True))
        ],
        "scores": [
            {
                "scorer": scorer,
                "metric": metric,
                "versions": sorted(column.versions),
                "references": sorted(column.references),
            }
            for (scorer, metric), column in sorted(side.scored.columns.items())
        ],
    }
    lines = ",\n".join(_line(entry) for entry in _entries(side))
    return f'{_line(head)[:-1]},"tasks":[\n{lines}\n]}}\n'


def read_baseline(text: str | bytes, *, where: str) -> Baseline:
    """What `baseline_text` wrote. Raises ConfigError, placed at `where`, for anything else, and for a newer version."""
    try:
        data: Any = json.loads(text, parse_constant=_refuse_constant)
        _check_version(data, where)
        file = _File.model_validate(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"no baseline: {place or 'it'}: {first['msg']}", where=where, hint=_AGAIN) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"no baseline: {error}", where=where, hint=_AGAIN) from None
    try:
        return _baseline(file, where)
    except ValueError as error:
        raise ConfigError(f"no baseline: {error}", where=where, hint=_AGAIN) from None


def _baseline(file: _File, where: str) -> Baseline:
    keys = [(entry.run, entry.agent, entry.suite, entry.task, entry.variant) for entry in file.tasks]
    if len(set(keys)) < len(keys):
        raise ValueError("a task of an agent is there twice")
    if len({run.run_id for run in file.runs}) < len(file.runs):
        raise ValueError("a run is there twice")
    for entry in file.tasks:
        _check_entry(entry, file.runs)
    rows = [(entry, place) for entry in file.tasks for place in range(len(entry.epochs))]
    trials = [_trial(entry, place, file.runs[entry.run]) for entry, place in rows]
    columns = {(own.scorer, own.metric): own for own in file.scores}
    unknown = {name for entry in file.tasks for name in entry.scores} - {f"{a}/{b}" for a, b in columns}
    if unknown:
        raise ValueError(f"the scores {min(unknown)} are not among its scores")
    scored = ScoredTrials(
        trials,
        {
            key: dataclasses.replace(
                _column(rows, lambda entry, key=key: entry.scores.get("/".join(key))),
                versions=set(own.versions),
                references=set(own.references),
            )
            for key, own in columns.items()
        },
        {},
    )
    side = Side(
        name=where,
        runs=tuple(_run(run, number, file.tasks) for number, run in enumerate(file.runs)),
        scored=scored,
        run_of=np.array([entry.run for entry, _ in rows], dtype=np.int64),
        graders=tuple(entry.grader[place] for entry, place in rows),
        weights={(entry.suite, entry.task): entry.weight for entry in file.tasks if entry.weight != 1},
        numbers={
            name: _column(rows, lambda entry, name=name: entry.numbers.get(name)) for name in TRIAL_NUMBERS
        },
    )
    accepted = tuple(
        Acceptance(run_id=run.run_id, at=run.accepted.at, by=run.accepted.by, why=run.accepted.why)
        for run in file.runs
    )
    return Baseline(accepted, side)


def _check_entry(entry: _Task, runs: Sequence[_Run]) -> None:
    name = f"{entry.suite}/{entry.task} of {entry.agent}"
    if entry.run >= len(runs):
        raise ValueError(f"{name} is of a run that is not there")
    if entry.suite not in runs[entry.run].suites:
        raise ValueError(f"{name} is of a suite that its run does not name")
    listed = (entry.status, entry.grader, *entry.numbers.values(), *entry.scores.values())
    if set(map(len, listed)) - {len(entry.epochs)}:
        raise ValueError(f"{name} has {len(entry.epochs)} epochs, and not as many of everything else")


def _trial(entry: _Task, place: int, run: _Run) -> LightTrial:
    return LightTrial(
        trial_id=f"{entry.run}/{entry.agent}/{entry.suite}/{entry.task}/{entry.variant}/{place}",
        suite=entry.suite,
        suite_digest=run.suites.get(entry.suite),
        task_id=entry.task,
        task_digest=entry.digest,
        variant=entry.variant,
        epoch=entry.epochs[place],
        agent=entry.agent,
        skills=(),
        difficulty=None,
        status=_STATUS[entry.status[place]],
    )


def _run(run: _Run, number: int, tasks: Sequence[_Task]) -> SideRun:
    planned: frozenset[PlannedKey] | None = None
    if run.planned:
        planned = frozenset(
            (entry.suite, entry.task, entry.variant, epoch, entry.agent)
            for entry in tasks
            if entry.run == number
            for epoch in entry.planned or ()
        )
    return SideRun(
        run_id=run.run_id,
        created_at=run.created_at,
        git_commit=run.git_commit,
        suites=run.suites,
        planned=planned,
        settings=run.settings,
    )


def _column(
    rows: Sequence[tuple[_Task, int]], values_of: Callable[[_Task], Sequence[float | None] | None]
) -> Column:
    """One number a trial; NaN where it has none."""
    found = [(values_of(entry), place) for entry, place in rows]
    told = [None if values is None else values[place] for values, place in found]
    return Column(np.array([np.nan if value is None else value for value in told], dtype=np.float64))


def _entries(side: Side) -> Iterator[dict[str, Any]]:
    """One a run, agent and unit; with the epochs that were planned, and those that are there."""
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for place, (trial, run) in enumerate(zip(side.scored.trials, side.run_of.tolist(), strict=True)):
        places[run, trial.agent, trial.suite, trial.task_id, trial.variant].append(place)
    planned: defaultdict[Key, list[int]] = defaultdict(list)
    for number, run in enumerate(side.runs):
        for suite, task, variant, epoch, agent in run.planned or ():
            planned[number, agent, suite, task, variant].append(epoch)
    for key in sorted({*places, *planned}):
        yield _entry(side, key, places.get(key, []), planned.get(key))


def _entry(side: Side, key: Key, places: list[int], planned: list[int] | None) -> dict[str, Any]:
    run, agent, suite, task, variant = key
    own = sorted(
        places, key=lambda place: (side.scored.trials[place].epoch, side.scored.trials[place].trial_id)
    )
    trials = [side.scored.trials[place] for place in own]
    found: dict[str, Any] = {"run": run, "agent": agent, "suite": suite, "task": task, "variant": variant}
    if (weight := side.weights.get((suite, task), 1.0)) != 1:
        found["weight"] = weight
    if planned is not None:
        found["planned"] = sorted(planned)
    if trials:
        scores = {f"{scorer}/{metric}": column for (scorer, metric), column in side.scored.columns.items()}
        found |= {
            "digest": trials[0].task_digest,
            "grader": [side.graders[place] for place in own],
            "epochs": [trial.epoch for trial in trials],
            "status": "".join(_LETTERS[trial.status] for trial in trials),
            "numbers": _known(side.numbers, own),
            "scores": _known(scores, own),
        }
    return found


def _known(columns: Mapping[str, Column], places: list[int]) -> dict[str, list[float | None]]:
    """The values at these places, of those columns that have one there."""
    found = {name: columns[name].values[places].tolist() for name in sorted(columns)}
    return {
        name: [None if value != value else value for value in values]  # noqa: PLR0124 - unknown is NaN
        for name, values in found.items()
        if any(value == value for value in values)  # noqa: PLR0124
    }


def _suites(side: Side, run: int) -> dict[str, str | None]:
    """Of a run its suites and their digests, also where it does not say itself what it was to try."""
    own = (
        trial for trial, number in zip(side.scored.trials, side.run_of.tolist(), strict=True) if number == run
    )
    return {**{trial.suite: trial.suite_digest for trial in own}, **side.runs[run].suites}


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_version(data: object, where: str) -> None:
    head = cast("dict[str, object]", data) if isinstance(data, dict) else {}
    if head.get("format") != FORMAT:
        raise ConfigError("no baseline of evalkit", where=where, hint=_AGAIN)
    version = head.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ConfigError(
            f"the baseline is of version {version}, and this evalkit reads up to {VERSION}",
            where=where,
            hint="Update evalkit, or accept the runs again with this one.",
        )
