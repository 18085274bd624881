"""Which calls does a fault strike?

Calls are counted, never dice thrown: the same calls are struck whenever the same calls are made.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from evalkit.engine.faults.called import Called
from evalkit.tasks.faults import Fault
from evalkit.tasks.pattern import SEARCH_S, found_in

_PATIENCE = 3
"""Searches that are stopped before no more are begun."""


@dataclass(slots=True)
class Schedule:
    """Counts the calls of one trial against its fault."""

    fault: Fault
    matching: int = 0
    """Calls so far that match."""
    strikes: int = 0
    """Those that the fault has struck."""
    stopped: int = 0
    """Searches that took too long, so that nobody knows whether the call matches."""
    tools: set[str] = field(default_factory=set[str])
    """That were called."""
    until_held: bool = False
    _first_at: float | None = field(default=None, repr=False)

    async def meets(self, called: Called, holds: Callable[[str], Awaitable[bool]]) -> bool:
        """Count a call, and say whether it is struck. `holds` runs the line of `until`; true ends the fault."""
        when = self.fault.when
        self.tools.add(called.tool)
        if when.tool not in {None, called.tool}:
            return False
        if when.matches is not None and not await self._matches(when.matches, called.text):
            return False
        self.matching += 1
        if self.matching < when.nth or self.is_over:
            return False
        if self.fault.until is not None:
            self.until_held = await holds(self.fault.until)
        return not self.until_held

    async def _matches(self, pattern: str, text: str) -> bool:
        if self.stopped == _PATIENCE:
            return False
        found = await found_in(pattern, text)
        self.stopped += found is None
        return bool(found)

    def struck(self) -> int:
        """Count a strike, and say which it is, from 1."""
        self.strikes += 1
        if self._first_at is None:
            self._first_at = time.monotonic()
        return self.strikes

    @property
    def is_over(self) -> bool:
        """Whether the fault strikes no more."""
        if self.until_held:
            return True
        if self._times is not None:
            return self.strikes >= self._times
        seconds = self.fault.retry_after_s
        if self.fault.until is not None or seconds is None or self._first_at is None:
            return False
        return time.monotonic() - self._first_at >= seconds

    @property
    def why_not(self) -> str:
        """Why it struck nothing."""
        when = self.fault.when
        if self.matching < when.nth:
            what = f"call of {when.tool}" if when.tool else "call"
            like = f" that matches {when.matches!r}" if when.matches else ""
            said = f"it strikes the {_nth(when.nth)} {what}{like}, and there were {self.matching}"
            return f"{said}{self._but_stopped}{self._other_tools}"
        if self.until_held:
            return f"its end had come before it could strike: {self.fault.until}"
        return "the trial ended during the call that it met"

    @property
    def _but_stopped(self) -> str:
        if not self.stopped:
            return ""
        times = "once" if self.stopped == 1 else f"{self.stopped} times"
        given_up = " and then given up" if self.stopped == _PATIENCE else ""
        return (
            f" that it was found in; its search was stopped after {SEARCH_S:g} s {times}{given_up}, so nobody knows "
            "whether those calls match: a simpler pattern is needed"
        )

    @property
    def _other_tools(self) -> str:
        """Whose calls there were instead, where there was none of the tool that it strikes."""
        wanted = self.fault.when.tool
        if wanted is None or wanted in self.tools or not self.tools:
            return ""
        near = difflib.get_close_matches(wanted, sorted(self.tools), n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        return f"; no tool of that name was called, only {', '.join(sorted(self.tools))}{meant}"

    @property
    def _times(self) -> int | None:
        if self.fault.times is not None:
            return self.fault.times
        lasts = self.fault.kind == "rate_limit" and self.fault.retry_after_s is not None
        return None if lasts or self.fault.until is not None else 1


def _nth(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
