"""What do the steps of a trial come to?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict, TypeVar

from evalkit.trajectory.step import Act, Think
from evalkit.trajectory.totals import total
from evalkit.trajectory.trial import ReasoningSource, ReasoningVisibility

Number = TypeVar("Number", int, float)


class Totals(TypedDict):
    """Columns of a trial that its steps add up to. A sum is None where one of its parts is, or where it has none."""

    model_served: str | None
    model_s: float | None
    tool_s: float | None
    model_calls: int
    tool_calls: int
    input_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    reasoning_visibility: ReasoningVisibility | None
    reasoning_source: ReasoningSource
    cost_usd: float | None


def totals(thinks: Sequence[Think], acts: Sequence[Act], *, counted: bool) -> Totals:
    """Add up a trial's generations and calls. `counted`: tokens were counted by us, as scripted agents' are."""
    return Totals(
        model_served=_last(think.model_served for think in thinks),
        model_s=_total(thinks, lambda think: think.duration_s),
        tool_s=total(act.duration_s for act in acts),
        model_calls=len(thinks),
        tool_calls=len(acts),
        input_tokens=_total(thinks, lambda think: think.input_tokens),
        cache_read_tokens=_total(thinks, lambda think: think.cache_read_tokens),
        cache_write_tokens=_total(thinks, lambda think: think.cache_write_tokens),
        output_tokens=_total(thinks, lambda think: think.output_tokens),
        reasoning_tokens=_total(thinks, lambda think: think.reasoning_tokens),
        reasoning_visibility=_visibility(thinks),
        reasoning_source="counted" if counted else _source(thinks),
        cost_usd=_total(thinks, lambda think: think.cost_usd),
    )


def _total(thinks: Iterable[Think], read: Callable[[Think], Number | None]) -> Number | None:
    """The sum over all generations; None where one of them did not report it, or there is none."""
    sums: Number | None = None
    for think in thinks:
        value = read(think)
        if value is None:
            return None
        sums = value if sums is None else sums + value
    return sums


def _last(values: Iterable[str | None]) -> str | None:
    known = [value for value in values if value]
    return known[-1] if known else None


_WORST_FIRST: tuple[ReasoningVisibility, ...] = (
    "unknown",
    "encrypted",
    "count_only",
    "summary",
    "full",
    "none",
)


def _visibility(thinks: Sequence[Think]) -> ReasoningVisibility | None:
    """The least visible reasoning of any generation."""
    seen = {think.reasoning_visibility for think in thinks}
    return next((level for level in _WORST_FIRST if level in seen), None)


def _source(thinks: Sequence[Think]) -> ReasoningSource:
    return "api" if any(think.reasoning_tokens is not None for think in thinks) else "unknown"
