"""How is a verdict told on a terminal?

Without colour or tables that a log would spoil: the first line says it, the second what to do, and then comes what it
rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.gate.figures import amount_text, change_text, detectable_text, interval_text, limit_text, p_text
from evalkit.gate.hostile_text import one_line
from evalkit.gate.notable_tasks import flaky, newly_passing, worse
from evalkit.gate.rerun import rerun
from evalkit.gate.verdict import AgentVerdict, MetricVerdict, SideFacts, TaskOutcome, Verdict

_TASKS_SHOWN = 5


def as_text(verdict: Verdict, *, strict: bool = False) -> str:
    """The verdict in lines; a terminal breaks the long ones."""
    return "\n".join(map(one_line, _lines(verdict, strict=strict))) + "\n"


def _lines(verdict: Verdict, *, strict: bool) -> Iterator[str]:
    yield verdict.headline
    yield verdict.advice
    yield ""
    for role, side in (("candidate", verdict.candidate), ("baseline", verdict.baseline)):
        yield f"{role:<10} {_side(side)}"
    yield f"{'policy':<10} {verdict.policy.source or 'none given: success may drop by 5 points'}"
    for problem in verdict.problems:
        yield f"! {problem.what}"
        yield f"  {problem.hint}"
    for warning in verdict.warnings:
        yield f"warning: {warning}"
    for own in verdict.agents:
        yield ""
        yield from _agent(own)
    yield ""
    yield f"again: {rerun(verdict, strict=strict)}"


def _side(side: SideFacts) -> str:
    suites = ", ".join(
        f"{name} {(digest or 'no digest')[:12]}" for name, digest in sorted(side.suites.items())
    )
    missing = f", {side.missing} missing" if side.missing else ""
    runs = f" ({len(side.runs)} runs pooled)" if len(side.runs) > 1 else ""
    return f"{side.name}{runs}: {suites}; {side.trials} trials, {side.unscored} unscored{missing}, epochs {side.epochs}"


def _agent(own: AgentVerdict) -> Iterator[str]:
    yield (
        own.candidate
        if own.candidate == own.baseline
        else f"{own.candidate}, beside {own.baseline} of the baseline"
    )
    for change in own.changes:
        yield f"  {change.setting}: {change.a} -> {change.b}"
    for metric in own.metrics:
        yield from _metric(metric)
    for zero in own.zero:
        yield f"  {zero.outcome.upper():<14} {zero.reason}"
        for event in zero.events[:_TASKS_SHOWN]:
            yield f"    {event.trial_id}{event.steps_told(_TASKS_SHOWN)}{f': {event.reason}' if event.reason else ''}"
    for one in own.required:
        yield f"  {one.outcome.upper():<14} {one.reason}"
    yield from _tasks(own.tasks)


def _metric(own: MetricVerdict) -> Iterator[str]:
    tolerable = " (tolerable: surely worse, and by less than the margin)" if own.tolerable else ""
    yield f"  {own.outcome.upper():<14} {own.reason}{tolerable}"
    if own.difference is None:
        return
    sides = f"{amount_text(own, own.baseline)} -> {amount_text(own, own.candidate)}"
    yield f"    {own.rule.key}: {sides}, {interval_text(own)}, {limit_text(own)}, {own.n} tasks"
    told: list[str] = []
    if own.p is not None and own.p_holm is not None:
        told.append(f"p {p_text(own.p)}" + (f", Holm {p_text(own.p_holm)}" if own.p_holm != own.p else ""))
    if own.detectable is not None:
        told.append(f"a loss of {detectable_text(own)} is found four times of five")
    if own.needed is not None:
        told.append(f"about {own.needed:,} tasks would decide")
    if own.worst_case is not None and own.worst_case != own.difference:
        told.append(f"with all unscored against it {change_text(own, own.worst_case)}")
    if told:
        yield f"    {'; '.join(told)}"


def _tasks(tasks: Sequence[TaskOutcome]) -> Iterator[str]:
    for title, chosen in (
        ("got worse", worse(tasks)),
        ("newly passing", newly_passing(tasks)),
        ("flaky", flaky(tasks)),
        ("known to fail, left out", [own for own in tasks if own.known_failing]),
    ):
        if chosen:
            shown = [f"{own.key} {_passes(own)}" for own in chosen[:_TASKS_SHOWN]]
            more = f" and {len(chosen) - _TASKS_SHOWN} more" if len(chosen) > _TASKS_SHOWN else ""
            yield f"  {title}: {', '.join(shown)}{more}"


def _passes(own: TaskOutcome) -> str:
    return f"{own.baseline_passed}/{own.baseline_scored} -> {own.candidate_passed}/{own.candidate_scored}"
