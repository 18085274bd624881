"""What is said below a table of metrics?"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evalkit.cli.console import stdout
from evalkit.cli.glance import Glance
from evalkit.cli.no_value import why_no_value
from evalkit.cli.prose import INDENT, say, say_reasons, say_unbroken
from evalkit.cli.summing import quantities_of
from evalkit.scoring.summary import Summary
from evalkit.trajectory.reader import Run

NOT_COMPUTED = "not scored: evalkit score"


def undeclared(summary: Summary) -> list[str]:
    """Numbers whose metric no installed scorer declares, in order."""
    return [
        name
        for name in summary.names
        if any(name in cell.figures and cell.figures[name].quantity.metric is None for cell in summary.cells)
    ]


def explain_all(summary: Summary) -> None:
    """What the columns say, and why each number that is missing is."""
    say("")
    say(
        "In brackets: where the number may lie for further tasks of this kind (95 %); none where one task is all "
        "there is, or nothing tells how much tasks differ."
    )
    say(f"n: how many tasks count{_faults(summary)}.")
    _say_unscored(summary)
    missing = _missing(summary)
    partly = {name: reasons for name, reasons in missing.items() if name in summary.names}
    say_reasons("- is no value, and never counted as 0:", _by_reason(partly))
    wholly = {name: reasons[:1] for name, reasons in missing.items() if name not in summary.names}
    say_reasons("Without any value, and so not shown:", _by_reason(wholly))


def explain_glance(summary: Summary, seen: Glance, *, narrow: bool, more: str) -> None:
    """What the columns say, what was looked for and not measured, and how many numbers more there are."""
    say("")
    interval = "In brackets: 95 % interval for further tasks of this kind"
    if narrow and summary.by is not None:
        interval = "95 % intervals: --all-metrics"
    elif narrow:
        interval += " (those of all numbers: --all-metrics)"
    say(f"{interval}. n: tasks that count{_faults(summary)}.")
    _say_unscored(summary)
    missing = _missing(summary)
    with_gaps = [name for name in seen.shown if name in missing]
    if with_gaps:
        reasons = _grouped(_gaps(summary, with_gaps))
        say("-: no value, never counted as 0." + (f" {reasons}." if reasons else ""), hanging=INDENT)
    unknown = {name: missing[name][:1] for name in seen.unknown if name in missing}
    if summary.scorers:
        unknown |= {name: [NOT_COMPUTED] for name in seen.unscored}
    if unknown:
        say(f"Not measured: {_grouped(unknown)}.", hanging=INDENT)
    if seen.folded:
        _say_more(_count(seen), more)


def notes(run: Run, summary: Summary, shown: Sequence[str]) -> Iterator[str]:
    """What is strange about these numbers, a line each."""
    if names := [name for name in undeclared(summary) if name in shown]:
        yield f"* plain means: no scorer that is installed here declares {', '.join(names)}"
    for scorer, trials in sorted(summary.not_scored.items()):
        yield f"{trials} trials have no scores of {scorer}: evalkit score {shlex.quote(run.path)} --scorer {scorer}"


def _faults(summary: Summary) -> str:
    arms = {own.arm for own in summary.cells}
    return "; in the faulted arm a task's faults are averaged first" if "faulted" in arms else ""


def _say_unscored(summary: Summary) -> None:
    unscored = sum(own.unscored for own in summary.cells)
    if unscored and summary.by != "skill":  # whose trials can be in several groups
        say(f"Unscored trials, which no number counts that needs a verdict: {unscored}.")


def _missing(summary: Summary) -> dict[str, list[str]]:
    """The numbers that some agent, arm or group has no value of, each with its reasons."""
    found: dict[str, list[str]] = {}
    for name, quantity in quantities_of(summary).items():
        reasons = [why_no_value(own, quantity, name) for own in summary.cells]
        if told := [reason for reason in dict.fromkeys(reasons) if reason is not None]:
            found[name] = told
    return found


def _gaps(summary: Summary, names: Sequence[str]) -> dict[str, list[str]]:
    """Those of these numbers that some agent has no value of where another one has, each with its first reason.

    That an arm has none of any agent, such as a recovery rate where no fault struck, is seen in its columns.
    """
    quantities = quantities_of(summary)
    found: dict[str, list[str]] = {}
    for name in names:
        why = [(own, why_no_value(own, quantities[name], name)) for own in summary.cells]
        told = {(own.arm, own.group) for own, reason in why if reason is None}
        reasons = [reason for own, reason in why if reason is not None and (own.arm, own.group) in told]
        if reasons:
            found[name] = reasons[:1]
    return found


def _by_reason(missing: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, reasons in missing.items():
        for reason in reasons:
            found[reason].append(name)
    return found


def _grouped(missing: Mapping[str, Sequence[str]]) -> str:
    """`recovery_rate (nothing failed); collateral, violations (side effects were not measured)`."""
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in _by_reason(missing).items())


def _count(seen: Glance) -> str:
    many = len(seen.folded)
    told = f"{many} more metric{'s' if many > 1 else ''}"
    which = "0 or without any value" if many == 1 else f"{seen.silent} of them 0 or without any value"
    return f"{told}, {which}" if seen.silent else told


def _say_more(told: str, command: str) -> None:
    """On one line where there is room for it, else with the command on a line of its own."""
    if len(told) + len(command) + 2 <= stdout().width:
        say_unbroken(f"{told}: {command}")
    else:
        say_unbroken(f"{told}:")
        say_unbroken(f"{INDENT}{command}")
