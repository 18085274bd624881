"""What do the steps of a trajectory in ATIF add up to, and do its final metrics say the same?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.convert.notes import Notes
from evalkit.convert.reported import dollars, tokens
from evalkit.models.reconcile import cost, reconcile
from evalkit.models.usage import Usage
from evalkit.models.wire.json_values import as_object
from evalkit.trajectory.step import Step, Think

_WRITES = ("cache_creation_input_tokens", "cache_write_input_tokens", "cache_write_tokens")
_THOUGHTS = ("reasoning_tokens", "reasoning_output_tokens", "thoughts_tokens")


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of what is known, as ATIF counts: prompt tokens with those from caches."""

    prompt: int = 0
    completion: int = 0
    cost: float = 0.0
    untold: int = 0
    """Generations without token counts."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cost + other.cost,
            self.untold + other.untold,
        )


def step_usage(metrics: Mapping[str, object], notes: Notes, *, thinking_shown: bool) -> Usage:
    """The metrics of one step in evalkit's convention."""
    return _usage(
        metrics,
        ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"),
        "",
        notes,
        thinking_shown=thinking_shown,
    )


def final_usage(metrics: Mapping[str, object], notes: Notes) -> Usage:
    """`final_metrics` in evalkit's convention."""
    names = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd")
    return _usage(metrics, names, "total_", notes, thinking_shown=False)


def _usage(
    metrics: Mapping[str, object],
    names: tuple[str, str, str, str],
    prefix: str,
    notes: Notes,
    *,
    thinking_shown: bool,
) -> Usage:
    extra = as_object(metrics.get("extra"))
    prompt, completion, cached = (tokens(metrics.get(name), notes) for name in names[:3])
    usage = reconcile(
        input_tokens=prompt,
        output_tokens=completion,
        reasoning_tokens=_first(extra, prefix, _THOUGHTS, notes),
        cache_read_tokens=cached,
        cache_write_tokens=_first(extra, prefix, _WRITES, notes),
        thinking_shown=thinking_shown,
        reported_cost_usd=dollars(metrics.get(names[3]), notes),
    )
    if prompt is not None and usage.input_tokens is None:
        notes.warn("more cached tokens than prompt tokens, so the uncached ones are unknown")
    if completion is not None and usage.output_tokens is None:
        notes.warn("more reasoning tokens than completion tokens, so neither is known")
    return usage


def _first(extra: Mapping[str, object], prefix: str, names: tuple[str, ...], notes: Notes) -> int | None:
    for name in names:
        for key in dict.fromkeys((prefix + name, name)):
            found = tokens(extra.get(key), notes)
            if found is not None:
                return found
    return None


def compare(
    final: Mapping[str, object], added: Mapping[str, Tally], notes: Notes, *, says: str = "final_metrics say"
) -> None:
    """Remark on a total that none of these sums is. The one named `all` is the one that counts."""
    counts = added["all"]
    for key, what, part in (
        ("total_prompt_tokens", "prompt tokens", "prompt"),
        ("total_completion_tokens", "completion tokens", "completion"),
        ("total_cost_usd", "dollars", "cost"),
    ):
        told = cost(final.get(key))
        if told is None:
            continue
        sums = {name: float(getattr(tally, part)) for name, tally in added.items()}
        if not any(math.isclose(told, found, rel_tol=1e-6, abs_tol=1e-9) for found in sums.values()):
            missing = f", {counts.untold} generations without counts" if counts.untold else ""
            notes.warn(f"{says} {told:,.12g} {what}, and the steps add up to {sums['all']:,.12g}{missing}")


def missing_columns(
    summed: Mapping[str, Any], usage: Usage, notes: Notes, steps: Sequence[Step], inner: Sequence[Step]
) -> dict[str, Any]:
    """Columns of a trial that its steps leave unknown, from totals that were reported for all of it.

    `summed` is what the `steps` add up to, `inner` those of them that are sub-agents'. Totals below what is known of
    the steps are none: they may be the caller's own, to which what its sub-agents spent is added where that is known.
    Where no total tells whether sub-agents are in them, the columns stay unknown.
    """
    told = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": usage.reported_cost_usd,
    }
    totals = {
        name: _Total(value, _known(steps, name), _known(inner, name))
        for name, value in told.items()
        if value is not None
    }
    signs = {total.has_subagents for total in totals.values()} - {None}
    found: dict[str, Any] = {}
    for name, total in totals.items():
        if summed.get(name) is not None:
            continue
        whole = total.whole(next(iter(signs), None)) if len(signs) < 2 else None
        if whole is None:
            notes.warn(f"a total of {name} that may leave some steps out is not taken, so that it is unknown")
        else:
            found[name] = whole
    return found


def _known(steps: Sequence[Step], column: str) -> list[float | None]:
    return [getattr(step, column) for step in steps if isinstance(step, Think)]


class _Total:
    """A reported total, and what is known of the generations of which it is to be one."""

    def __init__(self, told: float, steps: list[float | None], inner: list[float | None]) -> None:
        self._told = told
        self._inner = inner
        self._known, self._within = (sum(filter(None, values)) for values in (steps, inner))

    @property
    def has_subagents(self) -> bool | None:
        """Whether what sub-agents spent is in it; None where it does not tell."""
        if not self._within or self._below(self._known - self._within):
            return None
        if self._below(self._known):
            return False
        return True if self._same(self._known) else None

    def whole(self, has_subagents: bool | None) -> float | None:
        """The total of all generations; None where it is below what they spent, or nobody knows what it is of.
        `has_subagents` is what the totals tell together.
        """
        if not self._inner:
            return None if self._below(self._known) else self._told
        complete = None not in self._inner
        if complete and not self._within and not self._below(self._known):
            return self._told
        if has_subagents is None or (has_subagents and self._below(self._known)):
            return None
        if has_subagents:
            return self._told
        return self._told + self._within if complete and not self._below(self._known - self._within) else None

    def _same(self, amount: float) -> bool:
        return math.isclose(self._told, amount, rel_tol=1e-6, abs_tol=1e-9)

    def _below(self, amount: float) -> bool:
        return self._told < amount and not self._same(amount)
