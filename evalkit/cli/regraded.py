"""What did grading again change, and how is it told?"""

from __future__ import annotations

from collections import defaultdict

from rich.text import Text

from evalkit.cli.console import stdout
from evalkit.cli.prose import INDENT, one_line, say, say_unbroken
from evalkit.cli.trials_table import STYLES
from evalkit.engine.regrading import Regraded, Regrading
from evalkit.errors import Incomplete
from evalkit.trajectory.trial import Trial


def print_regraded(result: Regrading) -> None:
    """Print what was judged otherwise, how many were judged as before, and which could not be graded again, and why."""
    done = [one for one in result.trials if one.after is not None]
    changed = [one for one in done if one.changed]
    differ = sorted({f"{one.before.suite}/{one.before.task_id}" for one in done if one.tests_differ})
    if differ:
        say(f"The tests of {', '.join(differ)} have changed since the run began; nothing else of them has.")
    for one in changed:
        _say_changed(one)
    same = len(done) - len(changed)
    if result.settled:
        trials = "1 trial has" if result.settled == 1 else f"{result.settled} trials have"
        say(
            f"{trials} a verdict on each stored state already, by the graders of now: nothing to be graded there."
        )
    if result.settled and not result.trials and not result.left:
        return
    say(
        f"{len(done)} of {len(result.trials) + result.left} trials were graded again: {len(changed)} otherwise than "
        f"before, {same} as before."
    )
    if states := sum(one.states for one in done):
        say(f"States of the work on the way that got a verdict: {states}.")
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for one in result.trials:
        if one.after is None:
            reasons[one.reason or "unknown reason"].append(one.before.trial_id)
    for reason, trials in reasons.items():
        say(f"Not graded again, and judged as before: {' '.join(reason.splitlines())}")
        for trial_id in trials:
            say_unbroken(INDENT + trial_id)


def regraded_as_json(result: Regrading) -> dict[str, object]:
    """The same for programs."""
    done = [one for one in result.trials if one.after is not None]
    return {
        "run": str(result.path),
        "graded": len(done),
        "same": sum(not one.changed for one in done),
        "changed": [
            {"task": one.before.task_id, "from": _told(one.before), "to": _told(one.after)}
            for one in done
            if one.changed and one.after is not None
        ],
        "tests_changed": sorted(
            {f"{one.before.suite}/{one.before.task_id}" for one in done if one.tests_differ}
        ),
        "not_graded": [
            {"trial": one.before.trial_id, "reason": one.reason} for one in result.trials if one.after is None
        ],
        "states": sum(one.states for one in done),
        "settled": result.settled,
        "left": result.left,
        "interrupted": result.interrupted,
    }


def refuse_left(result: Regrading) -> None:
    """Raise Incomplete where trials could not be graded again."""
    missing = sum(one.after is None for one in result.trials)
    if missing:
        raise Incomplete(
            f"{missing} of {len(result.trials)} trials could not be graded again; they are judged as before",
            where=str(result.path),
            hint="What stands in the way is said of each.",
        )


def _say_changed(one: Regraded) -> None:
    assert one.after is not None
    line = Text()
    for place, trial in enumerate((one.before, one.after)):
        line.append(" -> " if place else "")
        line.append(trial.status, style=STYLES[trial.status])
        line.append("" if trial.reward is None else f" ({trial.reward:g})")
    stdout().print(line + Text(f"  {one_line(one.after.trial_id)}"), soft_wrap=True)
    before, after = one.before.checks or {}, one.after.checks or {}
    for check in sorted({*before, *after}):
        if before.get(check) != after.get(check):
            say(f"{check}: {_word(before.get(check))} -> {_word(after.get(check))}", indent=INDENT * 2)


def _word(passed: bool | None) -> str:
    return "not there" if passed is None else "ok" if passed else "FAILED"


def _told(trial: Trial) -> dict[str, object]:
    return {
        "trial": trial.trial_id,
        "attempt": trial.attempt,
        "status": trial.status,
        "reward": trial.reward,
        "checks": None if trial.checks is None else dict(trial.checks),
        "grader_digest": trial.grader_digest,
    }
