"""Is a task fit to judge anybody by?

For now: the oracle passes twice alike, and doing nothing fails. What cannot be scored proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.trajectory.trial import Trial

ORACLE_TIMES = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one task; no problems means it is proven."""

    task: str
    oracle: tuple[str, ...]
    """The status of each of the oracle's trials."""
    nop: str
    """The status of doing nothing."""
    problems: tuple[str, ...]


def judge(tasks: Sequence[tuple[str, str]], trials: Sequence[Trial]) -> tuple[Finding, ...]:
    """Compare what the oracle and nop did on each (suite, task)."""
    return tuple(
        _finding(
            f"{suite}/{task}",
            [t for t in trials if (t.suite, t.task_id) == (suite, task) and t.model == "scripted/oracle"],
            [t for t in trials if (t.suite, t.task_id) == (suite, task) and t.model == "scripted/nop"],
        )
        for suite, task in dict.fromkeys(tasks)
    )


def _finding(task: str, oracle: Sequence[Trial], nop: Sequence[Trial]) -> Finding:
    problems: list[str] = []
    if len(oracle) < ORACLE_TIMES or not nop:
        problems.append("the check was interrupted before this task was proven")
    problems += [
        f"{trial.model} is unscored ({trial.error_origin}): {trial.error_message}"
        for trial in (*oracle, *nop)
        if trial.status == "unscored"
    ]
    failed = [trial for trial in oracle if trial.status == "failed"]
    if failed:
        problems.append(f"the oracle failed {len(failed)} of {len(oracle)} times{_failed_checks(failed[0])}")
    if len({(trial.status, trial.reward, _checks(trial)) for trial in oracle}) > 1:
        problems.append(
            "the oracle's trials were judged differently: the task or its grader is not deterministic"
        )
    if any(trial.status == "passed" for trial in nop):
        problems.append("doing nothing passes: the grader does not look at the work")
    return Finding(
        task=task,
        oracle=tuple(trial.status for trial in oracle),
        nop=nop[0].status if nop else "missing",
        problems=tuple(problems),
    )


def _checks(trial: Trial) -> tuple[tuple[str, bool], ...]:
    return tuple(sorted((trial.checks or {}).items()))


def _failed_checks(trial: Trial) -> str:
    names = [name for name, passed in (trial.checks or {}).items() if not passed]
    return f"; failed checks: {', '.join(names)}" if names else ""
