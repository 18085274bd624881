"""Did anything in a container's working directory change since the call before?

Asked inside, of programs that the agent may have replaced, so it serves efficiency and recovery, never evidence.
"""

from __future__ import annotations

import hashlib

from evalkit.sandbox import digest
from evalkit.sandbox.protocol import ExecResult

MAX_BYTES = 16 * 1024 * 1024
_MISSING, _UNABLE = 3, 4
LISTING = rf"""
[ -d "$EVALKIT_WORKDIR" ] || exit {_MISSING}
cd "$EVALKIT_WORKDIR" || exit {_UNABLE}
find . -maxdepth 256 -printf '%p\0%s %T@ %C@ %i %m %U %y\0\0' 2>/dev/null && exit 0
find . -exec stat -c '%n|%s %y %z %i %f %u' {{}} + 2>/dev/null || exit {_UNABLE}
"""
"""size, mtime, ctime, inode, mode and owner of everything below; with GNU find, or any find and stat."""


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
