"""How much money is left, so that no call can spend more than that?

A call reserves the most that it can cost before it is sent, and settles with what it did cost. What is spent and what
is reserved never exceed a limit together. Amounts are whole nano-dollars: a cost is rounded up, a limit down, and
adding a million of them loses nothing. Everything happens between two awaits of one event loop; no lock is needed, and
a purse must not be shared between threads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import anyio

from evalkit.errors import EvalkitError

LimitName = Literal["trial", "run"]

_NANO = 10**9


class Spent(EvalkitError):
    """A cost limit leaves too little for another call."""

    def __init__(self, which: LimitName, *, limit_usd: float, realised_usd: float) -> None:
        super().__init__(
            f"the {which}'s cost limit of ${limit_usd:g} is spent: ${realised_usd:g} so far",
            hint="Raise --cost-limit, or take a cheaper model.",
        )
        self.which: LimitName = which
        self.limit_usd = limit_usd
        self.realised_usd = realised_usd


@dataclass(slots=True, eq=False)
class Waiter:
    """A call that waits for others to settle."""

    ticket: int
    """Calls are served in the order in which they asked, in every purse: none starves, and no two wait for another."""
    awake: anyio.Event = field(default_factory=anyio.Event)


class Budget:
    """One purse. Calls take from it through `Purses`, which alone uses its methods."""

    def __init__(self, limit_usd: float | None, *, realised_usd: float = 0.0) -> None:
        """`limit_usd` None is no limit; `realised_usd` is what had been spent before, as when a run is resumed."""
        self._limit = None if limit_usd is None else _nano_dollars(limit_usd, math.floor)
        self._realised = _nano_dollars(realised_usd, math.ceil)
        self._reserved = 0
        self._waiting: set[Waiter] = set()
        self._tickets = itertools.count()

    @property
    def limit_usd(self) -> float | None:
        return None if self._limit is None else self._limit / _NANO

    @property
    def realised_at_most_usd(self) -> float:
        """What has been spent; calls whose cost never became known count with all that they had reserved."""
        return self._realised / _NANO

    @property
    def reserved_usd(self) -> float:
        """What calls in flight may still cost."""
        return self._reserved / _NANO

    def next_ticket(self) -> int:
        return next(self._tickets)

    def offer(self, amount: int) -> int:
        """As much of the amount as is left when every call in flight turns out free; below 0 after an overcharge."""
        return amount if self._limit is None else min(amount, self._limit - self._realised)

    def blocks(self, amount: int, waiter: Waiter) -> bool:
        """Whether calls in flight, or calls that asked earlier, stand in the way of an amount that is offered."""
        if self._limit is None or amount == 0:
            return False
        if any(earlier.ticket < waiter.ticket for earlier in self._waiting):
            return True
        return amount > self._limit - self._realised - self._reserved

    def hold(self, amount: int) -> None:
        self._reserved += amount

    def settle(self, amount: int, cost: int) -> None:
        self._reserved -= amount
        self._realised += cost
        self._wake_first()

    def join(self, waiter: Waiter) -> None:
        self._waiting.add(waiter)

    def leave(self, waiter: Waiter) -> None:
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            self._wake_first()

    def _wake_first(self) -> None:
        if self._waiting:
            min(self._waiting, key=lambda waiter: waiter.ticket).awake.set()


class Grant:
    """What one call may cost. It is settled once; one that says nothing counts as spent in full."""

    def __init__(self, nano_dollars: int) -> None:
        self.nano_dollars = nano_dollars
        self._cost: int | None = None

    @property
    def usd(self) -> float:
        return self.nano_dollars / _NANO

    @property
    def cost_nano_dollars(self) -> int:
        """What the call counts with."""
        return self.nano_dollars if self._cost is None else self._cost

    def settle(self, cost_usd: float | None) -> None:
        """Say what the call cost, even where that is more than was granted.

        None where it was sent and its cost is not known: then it counts with all that was granted.
        """
        if self._cost is not None:
            raise RuntimeError("this grant has been settled already")
        if cost_usd is None or not math.isfinite(cost_usd) or cost_usd < 0:
            self._cost = self.nano_dollars
        else:
            self._cost = _nano_dollars(cost_usd, math.ceil)

    def not_billed(self) -> None:
        """Say that the call was never sent, or failed in a way that is not billed."""
        self.settle(0.0)


class Purses:
    """The trial's purse and the run's, reserved together: never one while waiting for the other."""

    def __init__(self, *, trial: Budget, run: Budget) -> None:
        self._trial = trial
        self._run = run

    @asynccontextmanager
    async def reserve(self, wanted_usd: float, least_usd: float = 0.0) -> AsyncGenerator[Grant]:
        """Reserve the most that a call can cost, or what is left, and settle when the block ends.

        Waits while only other calls in flight stand in the way, so never reserve inside such a block. The grant is
        smaller than wanted where a limit leaves less; the caller lowers the call to it. Raises Spent where that is
        less than `least_usd`, and ValueError for an amount that is negative or not finite. A block that ends without
        a word to the grant, by cancellation too, spends all of it.
        """
        wanted = _nano_dollars(wanted_usd, math.ceil)
        grant = Grant(await self._take(wanted, min(wanted, _nano_dollars(least_usd, math.ceil))))
        try:
            yield grant
        finally:
            for purse in (self._trial, self._run):
                purse.settle(grant.nano_dollars, grant.cost_nano_dollars)

    async def _take(self, wanted: int, least: int) -> int:
        purses = (self._trial, self._run)
        waiter = Waiter(self._run.next_ticket())
        try:
            while True:
                amount = min(purse.offer(wanted) for purse in purses)
                if amount < least:
                    raise self._spent(wanted, least)
                blocking = [purse for purse in purses if purse.blocks(amount, waiter)]
                if not blocking:
                    for purse in purses:
                        purse.hold(amount)
                    return amount
                waiter.awake = anyio.Event()
                for purse in purses:
                    if purse in blocking:
                        purse.join(waiter)
                    else:
                        purse.leave(waiter)
                await waiter.awake.wait()
        finally:
            for purse in purses:
                purse.leave(waiter)

    def _spent(self, wanted: int, least: int) -> Spent:
        """Where both are empty it is the run's, which ends more."""
        which, purse = ("run", self._run) if self._run.offer(wanted) < least else ("trial", self._trial)
        return Spent(which, limit_usd=purse.limit_usd or 0.0, realised_usd=purse.realised_at_most_usd)


def _nano_dollars(usd: float, rounded: Callable[[Fraction], int]) -> int:
    """The decimal number that was meant, as $0.1 is no binary fraction."""
    if not math.isfinite(usd) or usd < 0:
        raise ValueError(f"{usd} is no amount of money")
    return rounded(Fraction(repr(float(usd))) * _NANO)
