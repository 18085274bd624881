"""How well does an agent use its tools?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.tool_use import invalid_calls, tool_error_rate


def _count(name: str, meaning: str, *, worse: bool) -> Metric:
    return Metric(name=name, meaning=meaning, unit="calls", better="lower" if worse else "neither", low=0)


@dataclass(frozen=True)
class ToolUse(Scorer):
    """Tool calls: how many, and which of them failed."""

    metrics = (
        _count("tool_calls", "tool calls; the label says how many of which tool", worse=False),
        _count("tool_errors", "calls that failed, failing tests included", worse=True),
        _count(
            "invalid_calls",
            "calls that could not be made: an unknown tool, arguments that do not parse or fit",
            worse=True,
        ),
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
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        tools = Counter(act.tool or "unnamed" for act in trial.acts).most_common()
        rules = Counter(action.failure for action in trial.actions if action.failure is not None)
        failed = tuple(action.step for action in trial.actions if action.failure is not None)
        errors, calls = tool_error_rate(trial.actions)
        yield Score(
            "tool_calls", calls, f"{calls} calls", (), ", ".join(f"{t} {n}" for t, n in tools) or None
        )
        told = ", ".join(f"{n} by {rule}" for rule, n in sorted(rules.items())) or "none failed"
        yield Score("tool_errors", errors, f"{errors} of {calls} calls failed: {told}", failed)
        invalid = invalid_calls(trial.acts)
        told = f"{len(invalid)} of {calls} calls could not be made"
        yield Score("invalid_calls", len(invalid), told, invalid)
        if calls:
            yield Score("tool_error_rate", errors / calls, f"{errors} of {calls} calls failed", failed)
