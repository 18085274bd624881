"""How well does an agent use its tools?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.tool_use import (
    calls_vs_reference,
    invalid_calls,
    loop_score,
    redundant_calls,
    tool_error_rate,
)


def _count(name: str, meaning: str, *, worse: bool = True) -> Metric:
    return Metric(name=name, meaning=meaning, unit="calls", better="lower" if worse else "neither", low=0)


@dataclass(frozen=True)
class ToolUse(Scorer):
    """Tool calls: how many, and which of them were of no use."""

    metrics = (
        _count("tool_calls", "tool calls; the label says how many of which tool", worse=False),
        _count("tool_errors", "calls that failed, failing tests included"),
        _count(
            "invalid_calls",
            "calls that could not be made: an unknown tool, arguments that do not parse or fit",
        ),
        _count("redundant_calls", "calls that repeat an earlier one, changed nothing and showed nothing new"),
        _count("loop_score", "longest stretch of nothing but a cycle of one to three calls"),
        Metric(
            name="tool_error_rate",
            meaning="failed calls / calls",
            unit="share",
            better="lower",
            low=0,
            high=1,
            null_when="there was no call",
            aggregation="ratio_of_sums",
            of=("tool_errors", "tool_calls"),
        ),
        Metric(
            name="calls_vs_reference",
            meaning="calls / the median calls of the reference",
            better="lower",
            low=0,
            null_when="there is no reference",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        actions, acts = trial.actions, trial.acts
        by_tool = ", ".join(
            f"{tool} {n}" for tool, n in Counter(act.tool or "unnamed" for act in acts).most_common()
        )
        failed = tuple(action.step for action in actions if action.failure is not None)
        rules = Counter(action.failure for action in actions if action.failure is not None)
        errors, calls = tool_error_rate(actions)
        yield Score("tool_calls", calls, f"{calls} calls", (), by_tool or None)
        told = ", ".join(f"{n} by {rule}" for rule, n in sorted(rules.items())) or "none failed"
        yield Score("tool_errors", errors, f"{errors} of {calls} calls failed: {told}", failed)
        invalid, redundant = invalid_calls(acts), redundant_calls(acts)
        yield Score(
            "invalid_calls", len(invalid), f"{len(invalid)} of {calls} calls could not be made", invalid
        )
        told = f"{len(redundant)} of {calls} calls repeat one in the same state with the same result"
        yield Score("redundant_calls", len(redundant), told, redundant)
        loop = loop_score([action.key for action in actions])
        yield Score("loop_score", loop, f"{loop} calls in a row are one cycle")
        if calls:
            yield Score("tool_error_rate", errors / calls, f"{errors} of {calls} calls failed", failed)
        versus = calls_vs_reference(calls, trial.reference_calls)
        if versus is not None:
            yield Score(
                "calls_vs_reference",
                versus,
                f"{calls} calls, and the reference takes {trial.reference_calls:g}",
            )
