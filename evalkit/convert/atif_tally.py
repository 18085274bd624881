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
    Where nothing tells whether sub-agents are in them, the columns stay unknown.
    """
    told = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": usage.reported_cost_usd,
    }
    found: dict[str, Any] = {}
    for name, value in told.items():
        if value is None or summed.get(name) is not None:
            continue
        whole = _whole(value, _known(steps, name), _known(inner, name))
        if whole is None:
            notes.warn(
                f"a total of {name} that cannot be that of all steps is left out, so that it is unknown"
            )
        else:
            found[name] = whole
    return found


def _known(steps: Sequence[Step], column: str) -> list[float | None]:
    return [getattr(step, column) for step in steps if isinstance(step, Think)]


def _whole(told: float, steps: list[float | None], inner: list[float | None]) -> float | None:
    """The total of all generations, out of one that is of all, or of those that are no sub-agent's; None where it can
    be neither, or either.
    """
    known, within = (sum(filter(None, values)) for values in (steps, inner))
    same = math.isclose(told, known, rel_tol=1e-6, abs_tol=1e-9)
    if not inner:
        return told if same or told > known else None
    if same and None not in inner:
        return told
    own = known - within
    fits = told > own or math.isclose(told, own, rel_tol=1e-6, abs_tol=1e-9)
    return told + within if told < known and fits and None not in inner else None
