"""Which bytes of a shared output stream belong to which call?

A kept shell writes everything into the same two streams. Each call is framed on both of them by a token
that is random, so no output can imitate it by chance or by guessing:

    late output of earlier calls | token< | output of the call | token>[exit code]; | late output ...
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Literal

from evalkit.sandbox.capture import Capture

Stream = Literal["stdout", "stderr"]
_CODE = re.compile(rb"(\d{0,3});")
_DIGITS = re.compile(rb"\d{0,3}")


def new_token() -> str:
    """A token that nobody can guess; safe between single quotes and in a printf format."""
    return f"\x1e{secrets.token_hex(16)}"


class FrameReader:
    """Reads one stream: before, inside and after the frame of the running call."""

    def __init__(self, token: str, output: Capture, late: Capture) -> None:
        self.started = False
        self.ended = False
        self.exit_code: int | None = None
        self._start = f"{token}<".encode()
        self._end = f"{token}>".encode()
        self._output = output
        self._late = late
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._rest:
            data = self._rest + data
            self._rest = b""
        if not self.started:
            data = self._until_start(data)
        if self.started and not self.ended:
            data = self._until_end(data)
        if self.ended:
            self._late.add(data)

    def flush(self) -> None:
        """Count bytes that were held back as the possible beginning of a token: no more will come."""
        if not self.ended:
            (self._output if self.started else self._late).add(self._rest)
        self._rest = b""

    @property
    def held_back(self) -> int:
        """Number of bytes that are kept as the possible beginning of a token."""
        return len(self._rest)

    def _until_start(self, data: bytes) -> bytes:
        at = data.find(self._start)
        if at < 0:
            self._hold(data, self._start, self._late)
            return b""
        self._late.add(data[:at])
        self.started = True
        return data[at + len(self._start) :]

    def _until_end(self, data: bytes) -> bytes:
        at = data.find(self._end)
        while at >= 0:
            after = at + len(self._end)
            code = _CODE.match(data, after)
            if code is not None:
                self._output.add(data[:at])
                self.exit_code = int(code[1]) if code[1] else None
                self.ended = True
                return data[code.end() :]
            if _DIGITS.fullmatch(data, after):  # the rest of it may still arrive
                self._output.add(data[:at])
                self._rest = data[at:]
                return b""
            at = data.find(self._end, after)  # what follows is no exit code, so this was output
        self._hold(data, self._end, self._output)
        return b""

    def _hold(self, data: bytes, token: bytes, into: Capture) -> None:
        """Pass on all but what may be the beginning of the token."""
        held = _overlap(data, token)
        into.add(data[: len(data) - held])
        self._rest = data[len(data) - held :]


@dataclass(slots=True)
class Frame:
    """One call's output, taken from both streams."""

    token: str
    limit: int
    late: Capture
    stdout: Capture = field(init=False)
    stderr: Capture = field(init=False)
    readers: dict[Stream, FrameReader] = field(init=False)

    def __post_init__(self) -> None:
        self.stdout, self.stderr = Capture(self.limit), Capture(self.limit)
        self.readers = {
            "stdout": FrameReader(self.token, self.stdout, self.late),
            "stderr": FrameReader(self.token, self.stderr, self.late),
        }

    @property
    def started(self) -> bool:
        """Whether the shell has reached this call."""
        return any(reader.started for reader in self.readers.values())

    @property
    def ended(self) -> bool:
        """Whether the call is over and all it wrote was seen."""
        return all(reader.ended for reader in self.readers.values())

    @property
    def exit_code(self) -> int | None:
        """The exit code; None before the end."""
        return self.readers["stdout"].exit_code


def _overlap(data: bytes, token: bytes) -> int:
    """Length of the longest end of `data` that is a beginning of `token`."""
    for length in range(min(len(token) - 1, len(data)), 0, -1):
        if data.endswith(token[:length]):
            return length
    return 0
