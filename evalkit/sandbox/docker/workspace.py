"""Did anything in a container's working directory change since the call before?

Asked inside, of programs that the agent may have replaced, so it serves efficiency and recovery, never evidence.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from evalkit.sandbox import digest
from evalkit.sandbox.protocol import ExecResult
from evalkit.sandbox.shell import Call

MAX_BYTES = 16 * 1024 * 1024
FRESH_S = 1.0
"""For so long one look at the working directory serves the digest and the listing of a call."""
_LONGEST_S = 10.0
_MISSING, _UNABLE = 3, 4
LISTING = rf"""
[ -d "$EVALKIT_WORKDIR" ] || exit {_MISSING}
cd "$EVALKIT_WORKDIR" || exit {_UNABLE}
find . -maxdepth 256 -printf '%p\0%s %T@ %C@ %i %m %U %y\0\0' 2>/dev/null && exit 0
find . -exec stat -c '%n|%s %y %z %i %f %u' {{}} + 2>/dev/null || exit {_UNABLE}
"""
"""size, mtime, ctime, inode, mode and owner of everything below; with GNU find, or any find and stat."""


_SIGNATURE = re.compile(r"\d+ (?:\d{4}-\S+ \S+ (?:[+-]\d{4} )?){2}\d+ [0-9a-f]+ \d+")
"""What `stat` says of one path, with a time zone or without."""


class Workspace:
    """Asks for the listing of one working directory, and keeps it for who asks again at once."""

    def __init__(self, run: Callable[[Call], Awaitable[ExecResult]]) -> None:
        self._run = run
        self._seen: ExecResult | None = None
        self._until = 0.0

    def forget(self) -> None:
        """Something else happens now: nothing that was seen is used again."""
        self._seen = None

    async def digest(self, workdir: str) -> str | None:
        """See `Sandbox.workspace_digest`."""
        result = await self._list(workdir)
        self._seen, self._until = result, time.monotonic() + FRESH_S
        return digest_of(result)

    async def listing(self, workdir: str) -> Mapping[str, str] | None:
        """See `Sandbox.listing`. Right after a digest nothing is asked again."""
        seen, self._seen = self._seen, None
        if seen is None or time.monotonic() > self._until:
            seen = await self._list(workdir)
        return listing_of(seen, workdir)

    async def _list(self, workdir: str) -> ExecResult:
        call = Call(
            LISTING, cwd="/", env={"EVALKIT_WORKDIR": workdir}, timeout_s=_LONGEST_S, output_bytes=MAX_BYTES
        )
        return await self._run(call)


def digest_of(result: ExecResult) -> str | None:
    """The digest that a run of `LISTING` says; None where it could not be measured, or is too large."""
    if result.exit_code == _MISSING:
        return digest.MISSING
    if result.exit_code != 0 or result.stdout.truncated or result.timed_out:
        return None
    data = result.stdout.data
    gnu = data.endswith(b"\0\0")
    lines = sorted(data.split(b"\0\0" if gnu else b"\n"))
    if len(lines) > digest.MAX_ENTRIES or not data:
        return None
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def listing_of(result: ExecResult, workdir: str) -> dict[str, str] | None:
    """By absolute path, the signature that a run of `LISTING` says; None where it could not be measured, or is too
    large. A working directory that is not there is empty.
    """
    if result.exit_code == _MISSING:
        return {}
    if result.exit_code != 0 or result.stdout.truncated or result.timed_out:
        return None
    text = result.stdout.escaped
    if text.endswith("\0\0"):
        rows = [row.partition("\0")[::2] for row in text.split("\0\0")[:-1]]
    else:
        rows = _rows_of_stat(text)
    if len(rows) > digest.MAX_ENTRIES or not text:
        return None
    top = workdir.rstrip("/")
    return {top + path.removeprefix(".") or "/": signature for path, signature in rows}


def _rows_of_stat(text: str) -> list[tuple[str, str]]:
    """A name may hold anything, also newlines, so it goes on until a line ends in what `stat` says."""
    rows: list[tuple[str, str]] = []
    name: list[str] = []
    for line in text.split("\n"):
        rest, _, said = line.rpartition("|")
        if _SIGNATURE.fullmatch(said):
            rows.append(("\n".join([*name, rest]), said))
            name.clear()
        else:
            name.append(line)
    return rows
