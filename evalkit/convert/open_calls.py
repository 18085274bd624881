"""Which calls still wait for their results?"""

from __future__ import annotations

from collections import OrderedDict, deque


class OpenCalls:
    """Calls without a result, by their step's number, in order. Each question takes the same time, however many."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, None] = OrderedDict()
        self._by_id: dict[str, deque[int]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, number: int, id: str | None) -> None:  # noqa: A002 - what every format calls it
        """A call that begins to wait."""
        self._open[number] = None
        if id is not None:
            self._by_id.setdefault(id, deque()).append(number)

    def take(self, id: str | None) -> int | None:  # noqa: A002 - what every format calls it
        """The first call of this id, or the first of all where there is no id, which then waits no more."""
        number = next(iter(self._open), None) if id is None else self._first(id)
        if number is not None:
            del self._open[number]
        return number

    def _first(self, identity: str) -> int | None:
        queue = self._by_id.get(identity, deque())
        while queue:
            number = queue.popleft()
            if number in self._open:
                return number
        return None
