"""What does a verdict say in two lines, to somebody who knows no statistics?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from evalkit.gate.verdict import AgentVerdict, Outcome, Verdict

_WORDS: dict[Outcome, str] = {
    "information": "INFORMATION",
    "pass": "PASS",
    "inconclusive": "INCONCLUSIVE",
    "regressed": "REGRESSED",
    "not comparable": "NOT COMPARABLE",
}


def with_words(verdict: Verdict, nulls: Mapping[str, str] | None = None) -> Verdict:
    """The verdict with its first line, which says it and why, and its second, which says what to do.

    `nulls` says it of metrics that have no value though they were looked for, by their keys.
    """
    why = list(_reasons(verdict))
    told = "; ".join(why[:2]) + (f"; and {len(why) - 2} more" if len(why) > 2 else "")
    return dataclasses.replace(
        verdict, headline=f"{_WORDS[verdict.outcome]}: {told}.", advice=_advice(verdict, nulls or {})
    )


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Of the parts that decided; with several agents, whose they are."""
    if verdict.outcome == "not comparable" and verdict.problems:
        yield from (problem.what for problem in verdict.problems)
        return
    several = len(verdict.agents) > 1
    for own in verdict.agents:
        prefix = f"{own.candidate}: " if several else ""
        if verdict.outcome == "pass":
            told = _all_well(own)
            if told:
                yield f"{prefix}{told}"
            continue
        for part in (*own.zero, *own.metrics, *own.required):
            if part.outcome == verdict.outcome:
                yield f"{prefix}{part.reason}"


def _all_well(own: AgentVerdict) -> str:
    gated = [metric for metric in own.metrics if metric.outcome == "pass"]
    keys = [metric.rule.key for metric in gated]
    told = (
        f"{', '.join(keys)} {'is' if len(keys) == 1 else 'are'} no worse than allowed"
        if keys
        else "nothing happened that is not tolerated"
    )
    n = min((metric.n for metric in gated), default=0)
    return f"{told}, on {n} tasks" if n else told


def _not_comparable(verdict: Verdict) -> Iterator[str]:
    """The names of what could not be compared, in the order in which it is told."""
    for own in verdict.agents:
        yield from (part.rule.name for part in own.zero if part.outcome == "not comparable")
        yield from (part.rule.key for part in own.metrics if part.outcome == "not comparable")


def _advice(verdict: Verdict, nulls: Mapping[str, str]) -> str:
    match verdict.outcome:
        case "pass" | "information":
            return "This change may go in."
        case "not comparable":
            if verdict.problems:
                return verdict.problems[0].hint
            lacking = next((nulls[key] for key in _not_comparable(verdict) if key in nulls), None)
            return lacking or "Run both again with the same scorers: evalkit score RUN"
        case "regressed":
            return "Look at the tasks below that got worse, and at what changed; do not run again until it passes."
        case "inconclusive":
            needed = [
                metric.needed for own in verdict.agents for metric in own.metrics if metric.needed is not None
            ]
            if not needed:
                return (
                    "It is neither shown to be fine nor shown to be worse: use more tasks, or a wider margin."
                )
            return (
                f"It is neither shown to be fine nor shown to be worse: about {max(needed):,} tasks would decide, "
                "or a wider margin (`evalkit power` tells what a suite can decide)."
            )
