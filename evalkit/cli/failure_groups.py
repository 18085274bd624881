"""Why did trials fail, or stay without a verdict, and which have the same cause?"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from evalkit.cli.trial_filter import TrialFilter
from evalkit.measures.action import Action
from evalkit.scoring.facts import Facts, TaskFacts
from evalkit.scoring.trial import Trial as Judged
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Step
from evalkit.trajectory.trial import Trial

_VARYING = re.compile(r"[0-9a-f]{8,}|[0-9]+")


@dataclass(frozen=True, slots=True)
class Cause:
    """What trials that failed alike have in common."""

    status: str
    stop_reason: str | None
    failed_checks: tuple[str, ...]
    """Named checks that said no, sorted."""
    last_error: str | None
    """How the last action that failed failed: its error kind, or the rule by which it failed. Where none did, the last
    silent fault that struck; None where there was neither."""
    error_origin: str | None
    """Of an unscored trial, whose fault it is."""
    error: str | None
    """Of an unscored trial, the kind and the first line of its error, without numbers."""


@dataclass(frozen=True, slots=True)
class Telling:
    """The step of a trial that tells most: its last failed action, or else where a silent fault struck last."""

    step: int
    tool: str
    call: str
    """The command, or the arguments."""
    how: str
    """Such as `exit 1`, `timeout` or `fault typo, silent`."""
    said: str
    """The last line of what came back."""


@dataclass(frozen=True, slots=True)
class Failing:
    """One trial that did not pass."""

    trial: Trial
    telling: Telling | None
    """None where there is no such step."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Trials with the same cause, in order."""

    cause: Cause
    trials: tuple[Failing, ...]


def failure_groups(run: Run, asked: TrialFilter) -> tuple[FailureGroup, ...]:
    """Failing and unscored trials by what is likely their cause, the largest group first."""
    facts = Facts(run.manifest)
    found: defaultdict[Cause, list[Failing]] = defaultdict(list)
    for trial, steps in run.iter_trials():
        if trial.status != "passed" and asked.holds(trial):
            cause, failing = _why(trial, steps, facts.of(trial.suite, trial.task_id))
            found[cause].append(failing)
    groups = [FailureGroup(cause, tuple(own)) for cause, own in found.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.trials), group.trials[0].trial.trial_id)))


def call_text(act: Act) -> str:
    """What was called: a single text argument as it is, others as JSON."""
    if act.arguments is None:
        return act.arguments_raw or ""
    try:
        arguments = cast("object", json.loads(act.arguments))
    except (ValueError, RecursionError):
        return act.arguments
    if isinstance(arguments, dict):
        values = list(cast("dict[str, object]", arguments).values())
        if not values:
            return ""
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
    return act.arguments


def _why(trial: Trial, steps: Sequence[Step], facts: TaskFacts) -> tuple[Cause, Failing]:
    judged = Judged(row=trial, steps=tuple(steps), task=facts)
    last_error, telling = _last_error(judged)
    unscored = trial.status == "unscored"
    cause = Cause(
        status=trial.status,
        stop_reason=trial.stop_reason,
        failed_checks=tuple(sorted(name for name, passed in (trial.checks or {}).items() if not passed)),
        last_error=last_error,
        error_origin=trial.error_origin if unscored else None,
        error=_error(trial) if unscored else None,
    )
    return cause, Failing(trial, telling)


def _last_error(judged: Judged) -> tuple[str | None, Telling | None]:
    acts = {act.step: act for act in judged.acts}
    failed = [action for action in judged.actions if action.failure is not None]
    if failed:
        action, act = failed[-1], acts[failed[-1].step]
        how = f"exit {act.exit_code}" if act.exit_code else (act.error_kind or str(action.failure))
        return _how(act, action), _telling(act, how)
    for strike in reversed(judged.strikes):
        if not strike.loud and strike.visible:
            return f"silent fault {strike.kind}", _telling(
                acts[strike.step], f"fault {strike.fault_id}, silent"
            )
    return None, None


def _error(trial: Trial) -> str:
    lines = (trial.error_message or "").strip().splitlines()
    said = _VARYING.sub("#", lines[0])[:200] if lines else "unknown reason"
    return f"{trial.error_type}: {said}" if trial.error_type else said


def _how(act: Act, action: Action) -> str:
    if act.error_kind is not None:
        return act.error_kind
    return str(action.failure)


def _telling(act: Act, how: str) -> Telling:
    said = (act.stderr or act.stdout or act.observation or "").strip().splitlines()
    return Telling(
        step=act.step,
        tool=act.tool or "unnamed",
        call=call_text(act),
        how=how,
        said=said[-1] if said else "",
    )
