"""How much of what an agent spends is needed?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.starved import starved
from evalkit.measures.token_efficiency import (
    overspend,
    overthinking_auc,
    path_efficiency,
    stopping_efficiency,
    token_efficiency,
)
from evalkit.scoring.spent import Spent, spent

NO_REFERENCE = "the task has no reference, or the cost is unknown"
COUNTED = "tokens are counted, so that it is exact, or the task has no reference"
NO_STATES = "it failed, has no graded checkpoints, or its cost is unknown"
_share = partial(Metric, unit="share", better="higher", low=0, high=1)
_against = partial(_share, uses_reference=True)
_nats = partial(Metric, unit="nats", better="lower", low=0, uses_reference=True)
_sum = partial(Metric, better="neither", low=0, is_part=True)


def _parts(name: str, meaning: str) -> tuple[Metric, ...]:
    unknown = f"{NO_STATES}, or thinking was not counted"
    return (
        _nats(name=name, meaning=meaning, null_when=NO_STATES),
        _nats(name=f"{name}_thinking", meaning=f"{meaning}: the share of thinking", null_when=unknown),
        _nats(
            name=f"{name}_visible",
            meaning=f"{meaning}: the share of what is said and called",
            null_when=unknown,
        ),
    )


def _of_pass(name: str, parts: str, unit: str) -> Metric:
    return Metric(
        name=name,
        meaning=f"{unit} of all trials / successes",
        unit=unit,
        better="lower",
        low=0,
        null_when="nothing was solved (it is infinite), or costs are unknown",
        aggregation="ratio_of_sums",
        of=(parts, "solved"),
    )


@dataclass(frozen=True)
class Overthinking(Scorer):
    """Cost against what the task is known to need, and where the rest went."""

    version = "2"
    metrics = (
        _against(
            name="token_efficiency", meaning="s L / max(C, L): success weighted by cost against the reference"
        ),
        _against(
            name="token_efficiency_low",
            meaning="its lower bound where tokens were not counted",
            null_when=COUNTED,
        ),
        _against(
            name="token_efficiency_high",
            meaning="its upper bound where tokens were not counted",
            null_when=COUNTED,
        ),
        _share(
            name="stopping_efficiency",
            meaning="tokens until it would first have passed / all tokens; 0 for a failure",
            null_when="there are no graded checkpoints, or tokens are unknown",
        ),
        _share(
            name="path_efficiency",
            meaning="of a success: reference / cost until it would first have passed, at most 1",
            uses_reference=True,
            null_when=f"{NO_STATES}, or the task has no reference",
        ),
        _nats(
            name="waste",
            meaning="of a success: -ln of its token efficiency; its parts add up to it",
            null_when=f"it failed, or {NO_REFERENCE}",
        ),
        *_parts("waste_path", "waste until it would first have passed"),
        *_parts("waste_stop", "waste after that"),
        _against(
            name="overthinking_auc",
            meaning="success under a cost limit, averaged over limits from 0 to 16 times the reference",
            null_when=NO_REFERENCE,
        ),
        Metric(
            name="overspend",
            meaning="of successes: how many times the reference's cost they take",
            unit="x",
            better="lower",
            null_when=f"it failed, or {NO_REFERENCE}",
            shown="exp",
            uses_reference=True,
        ),
        _sum(name="tokens_spent", meaning="generated tokens", unit="tokens", null_when="they are unknown"),
        _sum(name="usd_spent", meaning="US dollars", unit="USD", null_when="they are unknown"),
        _sum(name="solved", meaning="1 for a success", null_when="an impossible twin"),
        _of_pass("cost_of_pass", "tokens_spent", "tokens"),
        _of_pass("usd_of_pass", "usd_spent", "USD"),
        Metric(
            name="thinking_share",
            meaning="tokens of thinking / all generated tokens",
            unit="share",
            low=0,
            high=1,
            null_when="thinking was not counted, or nothing was generated",
        ),
        Metric(
            name="starved",
            meaning="generations that a limit ended before an answer or a call",
            unit="generations",
            better="lower",
            low=0,
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        hungry = starved(trial.steps)
        yield Score("starved", len(hungry), f"{len(hungry)} of {len(trial.thinks)} generations", hungry)
        own = spent(trial)
        if own is None:
            return
        yield from _spending(own)
        yield from _against_reference(own)


def _spending(own: Spent) -> Iterator[Score]:
    tokens, thinking, until = own.tokens, own.thinking, own.to_pass("output_tokens")
    yield Score("solved", float(own.earned), "it passed" if own.earned else "it did not pass")
    for name, amount in (("tokens_spent", tokens), ("usd_spent", own.cost("cost_usd"))):
        if amount is not None:
            yield Score(name, amount, f"{amount:g} in all")
    if tokens and thinking is not None:
        told = f"{thinking:g} of {tokens:g} tokens are thinking"
        yield Score("thinking_share", min(1.0, thinking / tokens), told)
    if tokens is not None if own.earned else own.trial.follows_states:
        value = stopping_efficiency(until, tokens or 0.0, passed=own.earned)
        known = "unknown" if until is None else f"{until:g}"
        told = f"{known} of {tokens or 0:g} tokens until it would first have passed"
        told = told if own.earned else "it did not pass"
        yield Score("stopping_efficiency", value, told)


def _against_reference(own: Spent) -> Iterator[Score]:
    bounds, costs, reference = own.efficiency(), own.costs, own.reference
    if own.trial.reference is None or reference is None:
        return
    label = own.trial.reference.label
    cost = "unknown" if costs is None else f"{own.cost(own.basis):g}"
    told = f"{cost} {own.basis}, reference {reference:g}" + ("" if own.earned else "; it did not pass")
    if costs is None:
        # A failure without counts is no 0 here: successes without counts have none, so only failures would be averaged.
        if bounds is not None and own.basis == "output_tokens":
            yield Score("token_efficiency_low", bounds[0], told, (), label)
            yield Score("token_efficiency_high", bounds[1], told, (), label)
        return
    yield Score("token_efficiency", token_efficiency(costs, passed=own.earned), told, (), label)
    yield Score("overthinking_auc", overthinking_auc(costs, passed=own.earned), told, (), label)
    if not own.earned:
        return
    yield Score("overspend", overspend(costs), told, (), label)
    yield Score("path_efficiency", path_efficiency(costs), told, (), label)
    for name, nats in own.wasted().items():
        yield Score(name, max(0.0, nats), told, (), label)
