"""How is a model asked within a cost limit?

A call reserves the most that it can cost before it is sent, with the most output that it may have; what it did cost is
settled afterwards. Where less is left than the model would like, it is allowed less output, and the record says so.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import replace

from evalkit.engine.attempts import current_attempts
from evalkit.engine.cost_limits import TrialMoney
from evalkit.models.budget import Grant
from evalkit.models.endpoint import Completion, Endpoint, Question
from evalkit.models.failure import EndpointFailure
from evalkit.models.prices import Cost, affordable_output_tokens, cost_of, worst_case_usd
from evalkit.models.rates import Price
from evalkit.models.tariff import Tariff
from evalkit.trajectory.canonical import canonical_json

LEAST_OUTPUT = 256
"""Tokens; what cannot answer with so many is not asked any more."""

current_money: ContextVar[TrialMoney | None] = ContextVar("evalkit_current_money", default=None)
"""What the trial in this context may spend; None where nothing limits it."""


async def ask(endpoint: Endpoint, tariff: Tariff, question: Question) -> tuple[Completion, Cost]:
    """One attempt and what it cost, within what the trial may spend.

    Raises EndpointFailure as `Endpoint.ask`, and Spent where too little is left for another call.
    """
    money = current_money.get()
    if money is None or tariff.price is None:
        completion = await endpoint.ask(question)
        return completion, cost_of(tariff.price, completion.reading.usage)
    price, attempts = tariff.price, current_attempts.get()
    most = endpoint.thinking.bound or question.parameters.get("max_tokens") or tariff.most_output
    if not isinstance(most, int):
        raise TypeError("a call without a bound on its output cannot have a cost limit")
    size = _size(question)
    least = worst_case_usd(price, size, min(most, LEAST_OUTPUT + endpoint.least_output))
    if attempts is not None:
        attempts.clock.stop()  # other trials may have to settle first: that is not this agent's time
    try:
        async with money.purses.reserve(worst_case_usd(price, size, most), least) as grant:
            money.limits.note()
            allowed = min(most, affordable_output_tokens(price, size, grant.usd))
            if attempts is not None:
                attempts.begin()
                if allowed < most:
                    detail = {"limit": "cost_limit", "max_tokens": allowed, "instead_of": most}
                    attempts.recorder.event("limit", canonical_json(detail))
            bounded = replace(question, parameters={**question.parameters, "max_tokens": allowed})
            return await _granted(endpoint, price, bounded, grant)
    finally:
        money.limits.note()


async def _granted(
    endpoint: Endpoint, price: Price, question: Question, grant: Grant
) -> tuple[Completion, Cost]:
    try:
        completion = await endpoint.ask(question)
    except EndpointFailure as failure:
        if failure.cause.maybe_billed:
            grant.settle(cost_of(price, failure.reading.usage if failure.reading else None).usd)
        else:
            grant.not_billed()
        raise
    cost = cost_of(price, completion.reading.usage)
    grant.settle(cost.usd)
    attempts = current_attempts.get()
    if attempts is not None and cost.usd is not None and cost.usd > grant.usd:
        detail = {"limit": "cost_limit", "billed_usd": cost.usd, "allowed_usd": grant.usd}
        attempts.recorder.event("limit", canonical_json(detail))
    return completion, cost


def _size(question: Question) -> int:
    """Bytes of what is sent. No token is shorter than a byte."""
    return len(json.dumps([list(question.messages), list(question.tools)], ensure_ascii=False).encode())
