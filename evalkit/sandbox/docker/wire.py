"""How do bytes travel between the harness and a program in a container?"""

from __future__ import annotations

import asyncio
import socket
from collections import deque

from evalkit.sandbox.framing import Stream
from evalkit.sandbox.shell import ChannelClosed

_HEADER = 8
_HIGH, _LOW = 16 * 1024 * 1024, 1024 * 1024


class Wire(asyncio.Protocol):
    """A connection to a program's standard streams, as the engine multiplexes them.

    Each frame is one byte for the stream (1 stdout, 2 stderr), three zero bytes, four bytes of length, and the data.
    """

    def __init__(self) -> None:
        self._chunks: deque[tuple[Stream, bytes]] = deque()
        self._held = 0
        self._paused = False
        self._arrived = asyncio.Event()
        self._transport: asyncio.Transport | None = None
        self._header = b""
        self._stream: Stream = "stdout"
        self._left = 0
        self.closed = asyncio.Event()

    @classmethod
    async def on(cls, connection: socket.socket) -> Wire:
        """Take over a connected socket."""
        loop = asyncio.get_running_loop()
        if connection.family == socket.AF_UNIX:
            _, wire = await loop.create_unix_connection(cls, sock=connection)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, wire = await loop.create_connection(cls, sock=connection)
        return wire

    def send(self, data: bytes) -> None:
        """Write to the program's stdin. Raises ChannelClosed."""
        if self._transport is None or self.closed.is_set() or self._transport.is_closing():
            raise ChannelClosed
        self._transport.write(data)

    async def receive(self) -> tuple[Stream, bytes]:
        """The next bytes of either stream. Raises ChannelClosed after the last ones."""
        while not self._chunks:
            if self.closed.is_set():
                raise ChannelClosed
            self._arrived.clear()
            await self._arrived.wait()
        stream, data = self._chunks.popleft()
        self._held -= len(data)
        if self._paused and self._held < _LOW and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return stream, data

    def close(self) -> None:
        """Hang up. What has arrived can still be received."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        view = memoryview(data)
        while view:
            if self._left == 0:
                view = self._read_header(view)
                continue
            taken = bytes(view[: self._left])
            view = view[len(taken) :]
            self._left -= len(taken)
            self._held += len(taken)
            self._chunks.append((self._stream, taken))
        self._arrived.set()
        if self._held > _HIGH and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  -- the name is asyncio's
        """See asyncio.Protocol."""
        self.closed.set()
        self._arrived.set()

    def _read_header(self, view: memoryview) -> memoryview:
        missing = _HEADER - len(self._header)
        self._header += bytes(view[:missing])
        if len(self._header) == _HEADER:
            self._stream = "stderr" if self._header[0] == 2 else "stdout"
            self._left = int.from_bytes(self._header[4:], "big")
            self._header = b""
        return view[missing:]
