"""Which lines of a session file of Claude Code belong to which conversation?

The lines of sub-agents (`isSidechain`) are apart, in the file of the session or in files of their own. `/clear` ends a
conversation. One message of the model is as many lines as it has blocks, with the same `message.id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.models.wire.json_values import as_object, text_in

Line = Mapping[str, object]
_CLEAR = "<command-name>/clear</command-name>"


@dataclass(slots=True)
class Conversation:
    """Lines in their order, all of one conversation."""

    lines: list[Line] = field(default_factory=list[Line])
    first_line: int = 0
    """Its number in the file."""


@dataclass(slots=True)
class Session:
    """What is in one file."""

    conversations: list[Conversation]
    sidechains: list[Conversation]
    """One for each sub-agent."""


def split(lines: Iterable[tuple[int, Line]]) -> Session:
    """Sort the lines of a file. Lines that come twice, by their uuid, count once."""
    main = [Conversation()]
    side: dict[str, Conversation] = {}
    chain_of: dict[str, str] = {}
    seen: set[str] = set()
    for number, line in lines:
        uuid = text_in(line.get("uuid"))
        if uuid is not None:
            if uuid in seen:
                continue
            seen.add(uuid)
        if line.get("isSidechain") is True:
            parent = text_in(line.get("parentUuid")) or ""
            chain = text_in(line.get("agentId")) or chain_of.get(parent) or uuid or ""
            if uuid is not None:
                chain_of[uuid] = chain
            conversation = side.setdefault(chain, Conversation(first_line=number))
        else:
            if is_clear(line):
                main.append(Conversation())
                continue
            conversation = main[-1]
            conversation.first_line = conversation.first_line or number
        conversation.lines.append(line)
    return Session([found for found in main if _is_spoken(found)], list(side.values()))


def is_clear(line: Line) -> bool:
    """Whether the user cleared the context here."""
    content = as_object(line.get("message")).get("content")
    return line.get("type") == "user" and isinstance(content, str) and content.lstrip().startswith(_CLEAR)


def messages(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines of each message together, where the first of them stands; every other line alone."""
    together: dict[str, list[Line]] = {}
    order: list[list[Line]] = []
    for line in lines:
        id_ = text_in(as_object(line.get("message")).get("id")) if line.get("type") == "assistant" else None
        if id_ is not None and id_ in together:
            together[id_].append(line)
            continue
        order.append([line])
        if id_ is not None:
            together[id_] = order[-1]
    yield from order


def _is_spoken(conversation: Conversation) -> bool:
    """Whether the user or the model said anything in it."""
    return any(
        line.get("type") == "assistant" or (line.get("type") == "user" and line.get("isMeta") is not True)
        for line in conversation.lines
    )
