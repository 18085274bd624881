"""What is advised for tasks of a kind, in words?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from evalkit.scoring.figure_text import change_text, interval_text, number_text
from evalkit.scoring.routed import Routed


def routing_lines(found: Sequence[Routed]) -> Iterator[str]:
    """A line for each group of tasks for which something is advised, and one for all others with the reasons.

    Names are as they are in the run: who shows the lines makes them safe.
    """
    silent: defaultdict[str, list[str]] = defaultdict(list)
    for own in found:
        if own.advice.agent is None:
            name = f"{own.by} {own.group} ({own.advice.n})"
            silent[own.advice.silence or ""] += [name] if name not in silent[own.advice.silence or ""] else []
        else:
            yield _line(own)
    if silent:
        told = "; ".join(f"{why}: {', '.join(groups)}" for why, groups in silent.items())
        yield f"No advice (tasks): {told}."


def _line(own: Routed) -> str:
    advice = own.advice
    how = "fast" if advice.is_cheapest else "slow"
    tasks = f"{advice.n} tasks"
    line = f"Think {how}: {own.by} {own.group}: {advice.agent}"
    cost = _cost(own, advice.cost)
    if advice.agent == advice.best:
        ends = (None, None) if own.interval is None else (own.interval.low, own.interval.high)
        told = f"the best, {interval_text(advice.success, *ends)}, {cost}, {tasks}"
    else:
        standing = advice.standing
        change = standing and change_text(standing.difference, standing.low, standing.high)
        told = (
            f"{number_text(advice.success)}, {cost}, not told from the best, {advice.best} "
            f"({number_text(advice.best_success)}, {_cost(own, advice.best_cost)}; {change}, {tasks})"
        )
    worse = f"; significantly worse, and cheaper: {', '.join(advice.worse)}" if advice.worse else ""
    return f"{line}, {told}{worse}"


def _cost(own: Routed, cost: float | None) -> str:
    if cost is None:
        return "unknown cost"
    return f"${cost:.4f}" if own.basis == "cost_usd" else f"{cost:,.0f} tokens"
