"""How do a child and the grader speak, so that nobody else can?"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from .evidence import Evidence
from .workshop import CAP, Output, Workshop


class Talk:
    """Requests to one child and its replies, over pipes of their own; every request has a token of its own."""

    def __init__(self, workshop: Workshop, cwd: Path, code: str, end: float) -> None:
        self.end, self.done = end, False
        self.foreign: list[bytes] = []
        """Lines that answer no request."""
        theirs, self._to = os.pipe()
        self._from, answers = os.pipe()
        argv = [sys.executable, "-I", "-B", "-c", code, str(theirs), str(answers)]
        self.child = workshop.start(argv, cwd, seconds=end - time.monotonic(), fds=(theirs, answers))
        for fd in (theirs, answers):
            os.close(fd)
        for fd in (self._to, self._from):
            os.set_blocking(fd, False)
        self._came = b""

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """The reply; None where none came in time."""
        token = os.urandom(8).hex()
        self._drain()
        left = json.dumps({**request, "t": token}).encode() + b"\n"
        while (
            (rest := self.end - time.monotonic()) > 0 and len(self.foreign) < 100 and len(self._came) <= CAP
        ):
            line, newline, after = self._came.partition(b"\n")
            if newline:
                self._came = after
                reply = _object(line)
                if reply is not None and reply.get("t") == token:
                    return reply
                self.foreign.append(line[:200])
                continue
            ready = select.select([self._from], [self._to] if left else [], [], rest)
            try:
                if ready[1]:
                    left = left[os.write(self._to, left[:4096]) :]
                if ready[0]:
                    came = os.read(self._from, 1 << 16)
                    if not came:
                        return None
                    self._came += came
            except (BrokenPipeError, BlockingIOError):
                return None
        return None

    def bye(self) -> None:
        """Let the child end; it must say so."""
        reply = self.ask({"bye": True})
        self.done = reply is not None and reply.get("bye") is True
        self._drain()
        os.close(self._to)
        os.close(self._from)

    def tell(self, name: str, output: Output, evidence: Evidence, level: str = "suspected") -> None:
        """Note T4 and T5, as the end of the child and its channel show them."""
        if self.foreign:
            forged = any("t" in (_object(line) or {}) for line in self.foreign)
            what = f"{name}: something else than the protocol wrote to the channel of the values"
            evidence.note("T5", "confirmed" if forged else "suspected", what)
        if output.code == 0 and not self.done:
            claims = re.search(r'"reward"|"nonce"|\b\d+ passed\b', output.out)
            what = f"{name}: the child exited with 0 before it had given its values"
            evidence.note("T4", "confirmed" if claims else level, what)

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while len(self._came) <= CAP and (came := os.read(self._from, 1 << 16)):
                self._came += came
        *lines, self._came = self._came.split(b"\n")
        self.foreign += [line[:200] for line in lines[:100]]


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
