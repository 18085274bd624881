"""Does a path that a call names match a glob?

`*` and `?` stay within a folder, `**` spans any number of them. The time that a match takes is bounded by the product
of both lengths, whatever they hold.
"""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Sequence

MAX_PATH = 4_096
"""Longer words name no path that Linux would open."""


def resolved(path: str, base: str) -> str:
    """An absolute path without `.`, `..` and doubled slashes; links are not followed."""
    return posixpath.normpath(posixpath.join(base, path).replace("//", "/"))


def matches_path(glob: str, path: str, base: str) -> bool:
    """Whether an absolute path matches, which may hold a shell's own wildcards.

    A relative glob starts at `base`, but for one with `**` in front.
    """
    if len(path) > MAX_PATH:
        return False
    wanted = _absolute(glob, base)
    if _match(wanted.split("/"), path.split("/")):
        return True
    return any(sign in path for sign in "*?[") and _match(path.split("/"), wanted.split("/"))


def lies_below(glob: str, folder: str, base: str) -> bool:
    """Whether what a glob names lies below this folder, as far as it names it without wildcards."""
    wanted = _absolute(glob, base)
    plain = "/".join(part for part in _until_wildcard(wanted.split("/")))
    return folder == "/" or plain.startswith(f"{folder.rstrip('/')}/")


def _absolute(glob: str, base: str) -> str:
    """One that begins with any number of folders begins at the root."""
    return resolved(glob, "/" if glob.startswith("**") else base)


def _until_wildcard(parts: Sequence[str]) -> Sequence[str]:
    for number, part in enumerate(parts):
        if any(sign in part for sign in "*?["):
            return parts[:number]
    return parts


def _match(glob: Sequence[str], path: Sequence[str]) -> bool:
    """Part by part; what can be reached is kept as a set of positions in the path."""
    reached = {0}
    for part in glob:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and fnmatch.fnmatchcase(path[at], part)}
        if not reached:
            return False
    return len(path) in reached
