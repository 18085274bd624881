"""How is output of any length kept in bounded memory?"""

from __future__ import annotations

from evalkit.sandbox.protocol import Captured


class Capture:
    """Collects one output stream: all of it up to `limit` bytes, beyond that its first and last halves.

    Memory stays below twice the limit however much is written.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes | memoryview) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = self._limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        keep = self._limit - self._limit // 2
        self._tail += data[-keep:] if len(data) > keep else data
        if len(self._tail) > 2 * keep:
            del self._tail[:-keep]

    def result(self) -> Captured:
        """What was kept so far. A cut is marked by one line of its own that says how many bytes are
        missing.
        """
        if self.total <= self._limit:
            return Captured(bytes(self._head), self.total, truncated=False)
        first = self._limit // 2
        whole_tail = self._head[first:] + self._tail
        tail = whole_tail[len(whole_tail) - (self._limit - first) :]
        mark = f"\n[... {self.total - self._limit} bytes cut ...]\n".encode()
        return Captured(bytes(self._head[:first]) + mark + bytes(tail), self.total, truncated=True)
