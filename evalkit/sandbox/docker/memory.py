"""Was a command killed because its sandbox used more memory than it may?

The kernel only kills; how often it did stands in the container's control group, which process 1 reads.
"""

from __future__ import annotations

from dataclasses import replace

from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.protocol import Captured, ExecResult
from evalkit.sandbox.shell import KILLED


class MemoryLimit:
    """Tells, after a call, whether the limit was what ended it. Asked only for calls that were killed."""

    def __init__(self, warden: Warden, limit_mb: int) -> None:
        self._warden, self._limit_mb = warden, limit_mb
        self._seen: int | None = None

    async def look(self) -> None:
        """Count what was killed so far, between calls: none of it is the next call's."""
        self._seen = await self._warden.memory_kills()

    async def judged(self, result: ExecResult) -> ExecResult:
        """The result, with a line on stderr where the limit ended the call."""
        if result.timed_out or result.exit_code not in {KILLED, None}:
            return result
        before = self._seen
        await self.look()
        if before is None or self._seen is None or self._seen <= before:
            return result
        said = result.stderr
        mark = b"\n" if said.data and not said.data.endswith(b"\n") else b""
        note = mark + f"evalkit: killed: over the memory limit of {self._limit_mb} MB\n".encode()
        stderr = Captured(said.data + note, said.total + len(note), said.truncated)
        return replace(result, stderr=stderr, over_limit=True)
