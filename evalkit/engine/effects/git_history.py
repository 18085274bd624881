"""Does one commit descend from another? Asked of a repository's loose objects, as data."""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable, Iterable

MAX_COMMITS = 200
"""Commits that are looked at; what lies behind them is unknown."""
_MAX_OBJECT = 1024 * 1024
_LINK = re.compile(rb"(?:parent|object) ([0-9a-f]{40}(?:[0-9a-f]{24})?)")

Read = Callable[[str], Awaitable[bytes | None]]
"""Gives the content of a file below the repository's folder; None where there is none."""


async def descends(new: str, old: str, read: Read) -> bool | None:
    """Whether `old` is among the ancestors of `new`, or the same. None where that cannot be told: a commit is packed,
    missing, or too far away.
    """
    waiting, seen, complete = [new], {new}, True
    while waiting:
        sha = waiting.pop(0)
        if sha == old:
            return True
        if len(seen) > MAX_COMMITS:
            return None
        parents = linked(await read(f"objects/{sha[:2]}/{sha[2:]}"))
        if parents is None:
            complete = False
            continue
        for parent in parents:
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False if complete else None


def linked(content: bytes | None) -> Iterable[str] | None:
    """What a commit's or tag's loose object descends from or stands for; None for what is no such object."""
    if content is None:
        return None
    try:
        data = zlib.decompressobj().decompress(content, _MAX_OBJECT)
    except zlib.error:
        return None
    kind, _, rest = data.partition(b"\0")
    if not kind.startswith((b"commit ", b"tag ")):
        return None
    head = rest.split(b"\n\n", 1)[0]
    return [found[1].decode() for line in head.split(b"\n") if (found := _LINK.fullmatch(line))]
