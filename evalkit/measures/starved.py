"""Which generations had their whole output eaten by thinking?"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.trajectory.step import Act, Step, Think

_LENGTH = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "context_length",
        "model_context_window_exceeded",
    }
)
"""How providers and harnesses say that an answer ended because it had used up its tokens, or the context's."""


def starved(steps: Iterable[Step]) -> tuple[int, ...]:
    """The numbers of generations that ended by their limit of length without a word and without a call.

    Such a generation is no wrong answer: there is none. Those of which the record does not say how they ended do not
    count; white space is no word.
    """
    kept = tuple(steps)
    asked = {step.think_step for step in kept if isinstance(step, Act)}
    return tuple(
        step.step
        for step in kept
        if isinstance(step, Think)
        and (step.finish_reason or "").lower() in _LENGTH
        and not (step.text or "").strip()
        and step.step not in asked
    )
