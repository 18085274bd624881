"""Does one metric pass, has it regressed, or can these tasks not tell?

The unit is the task. It passes where the mean loss of further tasks of this kind is smaller than the margin, with 95 %
(Gaffke's bound, `stats.lower_bound`); it has regressed where chance alone would bring about a loss like this in at most
5 % of comparisons (one-sided sign flips over tasks, adjusted by Holm over everything that is gated), unless it passes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from evalkit.gate.gated import Gated
from evalkit.gate.pairs import Pairs, Share, paired
from evalkit.gate.verdict import MetricVerdict
from evalkit.stats.holm import holm
from evalkit.stats.interval import Numbers
from evalkit.stats.lower_bound import SHARE, lower_bound, tasks_needed
from evalkit.stats.permutation import sign_flip_p

_POWER = 2.487
"""1.645 + 0.842: the quantiles of the normal for 5 % one-sided and 80 % power."""
_MOST_TASKS = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A metric's differences, and what they say before other metrics are looked at."""

    own: Gated
    pairs: Pairs
    scaled: Numbers
    """On [-1, 1], below 0 is worse."""
    bound: float
    p: float
    worst_case: float | None


def measure(own: Gated, candidate: Share, baseline: Share, *, min_tasks: int) -> Measured | MetricVerdict:
    """What the tasks say; or already the verdict, where a side has no value or too few tasks have one on both."""
    pairs = paired(own, candidate, baseline)
    if isinstance(pairs, str):
        return MetricVerdict(
            rule=own.rule,
            outcome="not comparable",
            reason=f"the {pairs} has no value of {own.rule.key} at all",
            n=0,
            unit=own.metric.unit,
        )
    scaled = own.scaled(pairs.moved)
    if len(scaled) < min_tasks:
        return _few(own, pairs, scaled, min_tasks)
    bound = lower_bound(scaled, -1.0, weights=pairs.weights)
    return Measured(
        own,
        pairs,
        scaled,
        -1.0 if bound is None else bound,
        sign_flip_p(scaled * pairs.weights, side="less"),
        _worst_case(own, candidate, baseline),
    )


def decide(measured: Sequence[Measured]) -> tuple[MetricVerdict, ...]:
    """The verdicts on all metrics of all agents together, as how sure each is depends on how many there are."""
    adjusted = holm([one.p for one in measured])
    return tuple(_decided(one, p_holm) for one, p_holm in zip(measured, adjusted, strict=True))


def inform(one: Measured) -> MetricVerdict:
    """A metric that decides nothing, because tokens of different models are no measure of each other."""
    verdict = _figures(one, None)
    told = f"{_loss_text(one.own, verdict)}, told only: tokens of another model are no measure of this one's"
    return dataclasses.replace(verdict, outcome="information", reason=told)


def _decided(one: Measured, p_holm: float) -> MetricVerdict:
    own, scaled = one.own, one.scaled
    passed = one.bound > -own.margin
    worse = p_holm <= SHARE and (one.pairs.mean(scaled) or 0.0) < 0
    verdict = _figures(one, p_holm)
    loss = _loss_text(own, verdict)
    if passed:
        told = f"{loss}; a {own.rule.noun} of {_margin_text(own)} is ruled out, with 95 %"
        return dataclasses.replace(verdict, outcome="pass", reason=told, tolerable=worse)
    if worse:
        told = f"{loss}; chance alone does that in {_percent(p_holm)} of comparisons"
        return dataclasses.replace(verdict, outcome="regressed", reason=told)
    alike = bool(np.ptp(one.pairs.weights) < 1e-12)  # how tasks to come would weigh is not known
    needed = _needed(scaled, own.margin) if alike else None
    told = (
        f"{loss}; {verdict.n} tasks cannot rule out a {own.rule.noun} of {_amount(own, -one.bound)}, "
        f"and {_margin_text(own)} are allowed"
    )
    return dataclasses.replace(verdict, reason=told, needed=needed)


def _figures(one: Measured, p_holm: float | None) -> MetricVerdict:
    own, scaled = one.own, one.scaled
    gain = lower_bound(-scaled, -1.0, weights=one.pairs.weights)
    low, high = sorted((own.told(one.bound), own.told(1.0 if gain is None else -gain)))
    spread = float(np.std(scaled * one.pairs.weights, ddof=1)) if len(scaled) > 1 else 0.0
    found = _POWER * spread / math.sqrt(len(scaled))
    return MetricVerdict(
        rule=own.rule,
        outcome="inconclusive",
        reason="",
        n=len(scaled),
        unit=own.metric.unit,
        baseline=_side(own, one.pairs, one.pairs.baseline),
        candidate=_side(own, one.pairs, one.pairs.candidate),
        difference=_difference(own, one.pairs),
        low=low,
        high=high,
        p=one.p,
        p_holm=p_holm,
        detectable=abs(own.told(-found)) if 1e-9 < found < 1 else None,
        worst_case=one.worst_case,
    )


def _few(own: Gated, pairs: Pairs, scaled: Numbers, min_tasks: int) -> MetricVerdict:
    n = len(scaled)
    told = (
        f"{n or 'no'} task{'s' if n != 1 else ''} with a value on both sides, and {min_tasks} are asked for"
    )
    return MetricVerdict(
        rule=own.rule,
        outcome="inconclusive",
        reason=told,
        n=n,
        unit=own.metric.unit,
        baseline=_side(own, pairs, pairs.baseline),
        candidate=_side(own, pairs, pairs.candidate),
        difference=_difference(own, pairs),
        needed=max(min_tasks, tasks_needed(own.margin)),
    )


def _difference(own: Gated, pairs: Pairs) -> float | None:
    """Candidate - baseline; of a ratio the geometric change, without any cut."""
    middle = pairs.mean(pairs.moved)
    if middle is None:
        return None
    return math.expm1(middle) if own.is_log else middle + 0.0


def _side(own: Gated, pairs: Pairs, values: Numbers) -> float | None:
    """The mean over tasks; of logarithms the geometric one."""
    middle = pairs.mean(values)
    if middle is None or not own.is_log:
        return middle
    return own.amount(middle)


def _worst_case(own: Gated, candidate: Share, baseline: Share) -> float | None:
    """The difference if every unscored trial had the worst value in the candidate, and the best in the baseline."""
    if not own.can_be_imputed:
        return None
    pairs = paired(own, candidate, baseline, worst_case=True)
    return None if isinstance(pairs, str) else _difference(own, pairs)


def _needed(scaled: Numbers, margin: float) -> int | None:
    """About how many tasks like these would let it pass, or, where the loss itself is beyond the margin, show it."""
    middle = float(scaled.mean())
    if middle <= -margin:
        spread = float(np.std(scaled, ddof=1))
        return min(_MOST_TASKS, math.ceil((_POWER * spread / middle) ** 2)) if spread else None
    least, most = len(scaled), len(scaled)
    while not _passes(scaled, most, margin):
        least, most = most, most * 2
        if most > _MOST_TASKS:
            return None
    while most - least > max(1, least // 50):
        middle_n = (least + most) // 2
        least, most = (least, middle_n) if _passes(scaled, middle_n, margin) else (middle_n, most)
    return most


def _passes(scaled: Numbers, n: int, margin: float) -> bool:
    drawn = np.quantile(scaled, (np.arange(n) + 0.5) / n, method="inverted_cdf")
    bound = lower_bound(drawn, -1.0)
    return bound is not None and bound > -margin


def _loss_text(own: Gated, verdict: MetricVerdict) -> str:
    change = verdict.difference or 0.0
    if change == 0:
        return f"{own.rule.key} is the same"
    if own.is_log:
        return f"{own.rule.key} {'grew' if change > 0 else 'shrank'} by {_percent(abs(change))}"
    return f"{own.rule.key} {'fell' if change < 0 else 'rose'} by {_points(own, abs(change))}"


def _amount(own: Gated, scaled: float) -> str:
    told = abs(own.told(-scaled))
    return _percent(told) if own.is_log else _points(own, told)


def _margin_text(own: Gated) -> str:
    return _percent(own.rule.margin - 1) if own.is_log else _points(own, own.rule.margin)


def _points(own: Gated, amount: float) -> str:
    return f"{100 * amount:.3g} points" if own.metric.unit == "share" else f"{amount:.3g}"


def _percent(share: float) -> str:
    if 0 < share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:,.0f} %"
