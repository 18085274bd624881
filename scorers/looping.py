"""Does an agent make more calls than it needs?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.tool_use import calls_vs_reference, loop_score, redundant_calls


@dataclass(frozen=True)
class Looping(Scorer):
    """Calls that bring nothing new, calls in a cycle, and calls against the reference."""

    metrics = (
        Metric(
            name="redundant_calls",
            meaning="calls that repeat an earlier one, changed nothing and showed nothing new",
            unit="calls",
            better="lower",
            low=0,
        ),
        Metric(
            name="loop_score",
            meaning="longest stretch of nothing but a cycle of one to three calls",
            unit="calls",
            better="lower",
            low=0,
        ),
        Metric(
            name="calls_vs_reference",
            meaning="calls / the median calls of the reference",
            better="lower",
            low=0,
            null_when="the task has no reference, or one without calls",
            uses_reference=True,
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        calls = len(trial.actions)
        again = redundant_calls(trial.acts)
        told = f"{len(again)} of {calls} calls repeat one in the same state with the same result"
        yield Score("redundant_calls", len(again), told, again)
        loop = loop_score([action.key for action in trial.actions])
        yield Score("loop_score", loop, f"{loop} calls in a row are one cycle")
        versus = calls_vs_reference(calls, trial.reference_calls)
        if versus is not None:
            told = f"{calls} calls, and the reference takes {trial.reference_calls:g}"
            yield Score("calls_vs_reference", versus, told)
