"""Which parts does a verdict have in Markdown, and which come first?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit.gate.figures import amount_text, change_text, detectable_text, limit_text, p_text
from evalkit.gate.markdown_text import code, command, folded, prose, table
from evalkit.gate.notable_tasks import flaky, newly_passing, worse
from evalkit.gate.verdict import (
    ORDER,
    AgentVerdict,
    MetricVerdict,
    Outcome,
    SideFacts,
    TaskOutcome,
    Verdict,
    ZeroVerdict,
)

_TASKS_SHOWN = 10
_EVENTS_SHOWN = 10
_PROBLEMS_SHOWN = 20
_ROWS = 50
ICONS: dict[Outcome, str] = {
    "information": "\u2139\ufe0f",
    "pass": "\u2705",
    "inconclusive": "\u26a0\ufe0f",
    "regressed": "\u274c",
    "not comparable": "\u26d4",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that is shown whole or not at all."""

    kind: str
    """What it holds, in the plural, for the line that says what was left out."""
    text: str


def sections(verdict: Verdict) -> Iterator[Section]:
    """From the most to the least important: what decided, what there is to look at, what it rests on."""
    if verdict.problems:
        yield Section("what cannot be compared", _problems(verdict))
    agents = sorted(verdict.agents, key=lambda own: (-ORDER.index(own.outcome), own.candidate))
    yield from _verdicts(agents)
    for own in agents:
        if any(zero.events for zero in own.zero):
            yield Section("events that are not tolerated", _events(own, verdict.candidate.name))
        yield from _tasks(own)
    if verdict.warnings:
        yield Section("warnings", _listed("Warnings", [prose(warning) for warning in verdict.warnings]))
    yield Section("what was compared", folded("What was compared", _facts(verdict)))
    for own in agents:
        if own.metrics:
            yield Section("figures", folded("Figures", f"{code(own.candidate)}\n\n{_figures(own.metrics)}"))
    for own in agents:
        if own.tasks:
            yield Section("all tasks", folded("All tasks", f"{code(own.candidate)}\n\n{_passes(own.tasks)}"))


def _problems(verdict: Verdict) -> str:
    return _listed(
        "Cannot be compared",
        [f"{prose(problem.what)}  \n  {prose(problem.hint)}" for problem in verdict.problems],
    )


def _listed(title: str, told: list[str]) -> str:
    return "\n".join([f"### {title}", "", *(f"- {one}" for one in _first(told, _PROBLEMS_SHOWN))])


def _verdicts(agents: Sequence[AgentVerdict]) -> Iterator[Section]:
    """A line for everything that was judged, the most serious first; many lines in several tables."""
    several = len(agents) > 1
    lines = [
        (outcome, [code(own.candidate), *cells] if several else cells)
        for own in agents
        for outcome, cells in _judged(own)
    ]
    rows = [cells for _, cells in sorted(lines, key=lambda line: -ORDER.index(line[0]))]
    head = ["what", "baseline", "candidate", "difference", "limit", "why"]
    for start in range(0, len(rows), _ROWS):
        told = table(["agent", *head] if several else head, rows[start : start + _ROWS])
        yield Section("verdicts", told if several else f"### {_beside(agents[0])}\n\n{told}")


def _beside(own: AgentVerdict) -> str:
    return code(own.candidate) + (
        f", beside {code(own.baseline)} of the baseline" if own.baseline != own.candidate else ""
    )


def _judged(own: AgentVerdict) -> Iterator[tuple[Outcome, list[str]]]:
    for metric in own.metrics:
        yield (
            metric.outcome,
            [
                f"{ICONS[metric.outcome]} {code(metric.rule.key)}",
                amount_text(metric, metric.baseline),
                amount_text(metric, metric.candidate),
                change_text(metric, metric.difference),
                limit_text(metric),
                prose(f"{metric.reason}{' (tolerable)' if metric.tolerable else ''}"),
            ],
        )
    for zero in own.zero:
        what = f"{ICONS[zero.outcome]} {code(zero.rule.name)}"
        yield zero.outcome, [what, "", "", "", _tolerated(zero), prose(zero.reason)]
    for one in own.required:
        what = f"{ICONS[one.outcome]} {code(one.task)}"
        yield one.outcome, [what, "", "", "", "must pass", prose(one.reason)]


def _tolerated(own: ZeroVerdict) -> str:
    return "none tolerated" if own.rule.most == 0 else f"{own.rule.most} tolerated"


def _events(own: AgentVerdict, run: str) -> str:
    found = [(zero, event) for zero in own.zero for event in zero.events]
    rows = [
        (
            code(zero.rule.name),
            code(event.task),
            code(event.trial_id),
            ", ".join(map(str, event.steps[:_EVENTS_SHOWN])) or "-",
            prose(event.reason or "-"),
        )
        for zero, event in found[:_EVENTS_SHOWN]
    ]
    more = len(found) - _EVENTS_SHOWN
    return "\n\n".join(
        [
            f"**Events** of {code(own.candidate)}",
            table(("event", "task", "trial", "steps", "why"), rows),
            *([f"and {more:,} more"] if more > 0 else []),
            "To read the steps of the first:",
            command(shlex.join(["evalkit", "show", run, found[0][1].trial_id])),
        ]
    )


def _tasks(own: AgentVerdict) -> Iterator[Section]:
    """Those that got worst, that newly pass and that are flaky, the first few of each."""
    for title, kind, chosen in (
        ("Got worse", "tasks that got worse", worse(own.tasks)),
        ("Newly passing", "newly passing tasks", newly_passing(own.tasks)),
        ("Flaky", "flaky tasks", flaky(own.tasks)),
    ):
        if chosen:
            more = len(chosen) - _TASKS_SHOWN
            told = f"**{title}** with {code(own.candidate)}\n\n{_passes(chosen[:_TASKS_SHOWN])}"
            yield Section(kind, told + (f"\n\nand {more:,} more" if more > 0 else ""))


def _passes(tasks: Sequence[TaskOutcome]) -> str:
    rows = [
        (
            code(own.key) + (" (known to fail)" if own.known_failing else ""),
            f"{own.baseline_passed}/{own.baseline_scored}",
            f"{own.candidate_passed}/{own.candidate_scored}",
        )
        for own in tasks
    ]
    return table(("task", "baseline passed", "candidate passed"), rows)


def _figures(metrics: Sequence[MetricVerdict]) -> str:
    rows = [
        (
            code(own.rule.key),
            f"{own.n:,}",
            f"{change_text(own, own.low)} to {change_text(own, own.high)}",
            "-" if own.p is None else p_text(own.p),
            "-" if own.p_holm is None else p_text(own.p_holm),
            detectable_text(own),
            "-" if own.needed is None else f"{own.needed:,}",
            change_text(own, own.worst_case),
        )
        for own in metrics
    ]
    head = (
        "metric",
        "tasks",
        "90 % interval",
        "p",
        "p, Holm",
        "found four times of five",
        "tasks that would decide",
        "with all unscored against it",
    )
    return table(head, rows)


def _facts(verdict: Verdict) -> str:
    sides = (verdict.candidate, verdict.baseline)
    rows = [
        ("named", *(code(side.name) for side in sides)),
        ("runs", *(_codes(side.runs) for side in sides)),
        ("created", *(_codes(side.created_at) for side in sides)),
        ("suites", *(_codes(_suites(side)) for side in sides)),
        ("trials", *(f"{side.trials:,}" for side in sides)),
        ("unscored", *(f"{side.unscored:,}" for side in sides)),
        ("missing", *(f"{side.missing:,}" for side in sides)),
        ("epochs", *(f"{side.epochs:,}" for side in sides)),
    ]
    policy = verdict.policy.source
    told = [table(("", "candidate", "baseline"), rows)]
    told.append(
        f"Policy: {code(policy)}"
        if policy is not None
        else "Policy: none given, success may drop by 5 points."
    )
    changed = [
        (code(own.candidate), code(change.setting), code(change.b), code(change.a))
        for own in verdict.agents
        for change in own.changes
    ]
    if changed:
        told.append(table(("set otherwise", "", "candidate", "baseline"), changed[:_PROBLEMS_SHOWN]))
    return "\n\n".join(told)


def _suites(side: SideFacts) -> list[str]:
    return [f"{name} {(digest or 'no digest')[:12]}" for name, digest in sorted(side.suites.items())]


def _codes(names: Sequence[str]) -> str:
    return ", ".join(_first([code(name) for name in names], _TASKS_SHOWN)) or "-"


def _first(told: list[str], most: int) -> list[str]:
    more = len(told) - most
    return [*told[:most], *([f"and {more:,} more"] if more > 0 else [])]
