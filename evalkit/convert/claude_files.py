"""Which files belong to a session of Claude Code?

    FOLDER/SESSION.jsonl                          the session
    FOLDER/agent-ID.jsonl                         a sub-agent of it (older versions)
    FOLDER/SESSION/subagents/agent-ID.jsonl       a sub-agent of it (newer ones)

What counts is the `sessionId` in the lines, since people rename files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from evalkit.convert.notes import Refused
from evalkit.convert.source import Source

_SESSION = re.compile(rb'"sessionId"\s*:\s*"([\w.-]{1,200})"')
_SIDE = re.compile(rb'"isSidechain"\s*:\s*(true|false)')
_AGENT = re.compile(r"agent-(?P<id>.+?)\.jsonl(?:\.gz)?")
_MOST_FILES = 1000
"""Files of a folder that are looked at."""
_MOST_RENAMED = 200
"""Files that are looked at for a session whose file is not named for it."""


def is_agent_file(source: Source) -> bool:
    """Whether a file holds a sub-agent's steps only, as far as its head tells."""
    sides = set(_SIDE.findall(source.head))
    return sides == {b"true"}


def session_file(source: Source) -> Path | None:
    """The file of the session that a sub-agent's file belongs to; None where it is not there."""
    session = _session_of(source)
    if session is None or _AGENT.fullmatch(source.path.name) is None:
        return None
    folder = source.path.parent
    inside = folder.name == "subagents"
    place = folder.parent.parent if inside else folder
    files = [
        Source(place / f"{session}.jsonl"),
        Source(place / f"{session}.jsonl.gz"),
        *_files(place, "*.jsonl*"),
    ]
    for file in files:
        if (
            file.path == source.path
            or _AGENT.fullmatch(file.path.name) is not None
            or not _is_file(file.path)
        ):
            continue
        fits = not inside or folder.parent.name in {session, file.name.removesuffix(".jsonl")}
        if fits and _is_session(file, session):
            return file.path
    return None


def agent_files(source: Source) -> Iterator[tuple[str | None, Source]]:
    """The files of a session's sub-agents, each with the sub-agent's id."""
    session = _session_of(source)
    if session is None:
        return
    folder = source.path.parent
    stem = source.name.removesuffix(".jsonl")
    for place in (folder, *(folder / name / "subagents" for name in dict.fromkeys((session, stem)))):
        for file in _files(place, "agent-*.jsonl*"):
            name = _AGENT.fullmatch(file.path.name)
            if name is None or file.path == source.path:
                continue
            try:
                belongs = is_agent_file(file) and _session_of(file) == session
            except Refused:
                continue
            if belongs:
                yield name["id"], file


def _files(folder: Path, pattern: str) -> Iterator[Source]:
    try:
        if folder.is_dir():
            yield from map(Source, sorted(islice(folder.glob(pattern), _MOST_FILES)))
    except (OSError, ValueError):
        return


def _is_session(file: Source, session: str) -> bool:
    try:
        return _session_of(file) == session and not is_agent_file(file)
    except Refused:
        return False


def _session_of(source: Source) -> str | None:
    found = _SESSION.search(source.head)
    return found.group(1).decode() if found else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
