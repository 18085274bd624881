"""Which samples does the archive of an Inspect log hold?

A sample is one member, or a shell with sequences of messages, events and attachments in pieces that are named by the
place of their first item.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from evalkit.convert.inspect_archive import Archive
from evalkit.convert.json_text import JsonReader, kind_of
from evalkit.convert.notes import Notes, Refused
from evalkit.models.wire.json_values import as_list, is_list, is_object

Raw = Mapping[str, object]
_SAMPLES = "samples/"
_PIECE = re.compile(
    r"(samples/.+_epoch_\d+)/(?:(messages|events|calls|attachments)/([^/]+)|[a-z]+)\.json", re.DOTALL
)
_SHELL, _METADATA = "/sample.json", "/metadata.json"


def samples_in(archive: Archive, notes: Notes) -> Iterator[object]:
    """Every sample, one at a time. One that cannot be read is a loss."""
    names = archive.names()
    shells = {name.removesuffix(_SHELL) for name in names if name.endswith(_SHELL) and _PIECE.fullmatch(name)}
    pieces: dict[str, dict[str, list[tuple[int, str]]]] = defaultdict(
        lambda: defaultdict(list[tuple[int, str]])
    )
    whole: list[str] = []
    for name in names:
        found = _PIECE.fullmatch(name)
        if found and found[1] in shells:
            if found[2] and found[3].isascii() and found[3].isdigit():
                pieces[found[1]][found[2]].append((int(found[3][:18]), name))
        elif name.startswith(_SAMPLES) and name.endswith(".json"):
            whole.append(name)
    for name in whole:
        try:
            yield decoded(archive.read(name), notes)
        except Refused as problem:
            notes.lose(f"{name[:100]}: {problem}")
    for shell in sorted(shells):
        try:
            yield _joined(archive, shell, pieces[shell], notes)
        except Refused as problem:
            notes.lose(f"{shell[:100]}: {problem}")


def decoded(data: bytes, notes: Notes) -> object:
    """The value of a member. What is no text in it becomes U+FFFD."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        notes.warn("characters that are no valid text became U+FFFD", text.count("\ufffd"))
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError as error:
        raise Refused("nested too deeply") from error
    except ValueError:
        return JsonReader(notes).value(text)


def object_in(data: bytes, notes: Notes) -> Raw:
    """The same, for what must be an object."""
    value = decoded(data, notes)
    if not is_object(value):
        raise Refused(f"holds {kind_of(value)}, not an object")
    return value


def _joined(
    archive: Archive, shell: str, pieces: Mapping[str, list[tuple[int, str]]], notes: Notes
) -> dict[str, object]:
    """A sample in pieces as it is in one."""
    sample = dict(object_in(archive.read(shell + _SHELL), notes))
    if shell + _METADATA in archive:
        sample["metadata"] = decoded(archive.read(shell + _METADATA), notes)
    found: dict[str, list[object]] = {}
    for sequence in ("messages", "events", "attachments"):
        items: list[object] = []
        for start, name in sorted(pieces.get(sequence, ())):
            if start != len(items):
                notes.lose(f"{shell[:100]}: {sequence} are missing before {start}")
            items.extend(as_list(decoded(archive.read(name), notes)))
        found[sequence] = items
    sample["events"] = found["events"]
    sample["events_data"] = {"messages": found["messages"], "calls": []}
    sample["attachments"] = {str(place): text for place, text in enumerate(found["attachments"])}
    sample["messages"] = list(_referred(sample.get("message_refs"), found["messages"]))
    return sample


def _referred(refs: object, messages: list[object]) -> Iterator[object]:
    """The conversation at the end, at most ten times as long as all its messages."""
    left = 10 * len(messages)
    for pair in as_list(refs):
        start, end = pair if is_list(pair) and len(pair) == 2 else (0, 0)
        if type(start) is int and type(end) is int and 0 <= start < end:
            part = messages[start : min(end, start + left)]
            left -= len(part)
            yield from part


def _no_number(name: str) -> None:
    """NaN and infinities are no numbers; that NaN is how Inspect says unscored makes it no remark."""
    del name
