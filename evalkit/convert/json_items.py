"""What does a large JSON file hold, one item of its long list at a time?

The libraries that stream JSON refuse what real logs hold (NaN, a byte order mark, invalid bytes), so the standard
decoder is asked for one item after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import MOST_BYTES, Source

_SPACE = re.compile(r"[ \t\r\n]*")
_MORE = 1 << 16


class JsonItems:
    """A JSON file that is a list, or an object in which one key holds a long list."""

    def __init__(self, source: Source, notes: Notes) -> None:
        self._source, self._notes = source, notes

    def header(self, *leave_out: str, until: str | None = None) -> dict[str, object]:
        """The top-level object without these keys, whose values are read over, item by item where they are lists.

        `until`: only what comes before this key.
        Refused where the file is no JSON object; where it is cut off, what came before the cut, with a loss noted.
        """
        found: dict[str, object] = {}
        text = _Window(self._source, self._notes)
        text.expect("{")
        try:
            for key in _keys(text):
                if key == until:
                    break
                if key in leave_out and text.peek() == "[":
                    for _ in _list(text):
                        pass
                else:
                    value = text.value()
                    if key not in leave_out:
                        found[key] = value
        except Refused as damage:
            self._notes.lose(str(damage))
        return found

    def items(self, key: str | None = None) -> Iterator[object]:
        """The items of the list under a key of the top-level object, or of the top-level list.

        Where the file is cut off or damaged, the items before that, and then a loss is noted.
        """
        text = _Window(self._source, self._notes)
        if key is None:
            yield from self._until_damaged(_list(text))
            return
        text.expect("{")
        for found in _keys(text):
            if found == key and text.peek() == "[":
                yield from self._until_damaged(_list(text))
                return
            text.value()

    def _until_damaged(self, items: Iterator[object]) -> Iterator[object]:
        count = 0
        try:
            for item in items:
                count += 1
                yield item
        except Refused as damage:
            if not count:
                raise
            self._notes.lose(f"after {count} items: {damage}")


def _keys(text: _Window) -> Iterator[str]:
    """The keys of an object that has begun; whoever gets one reads its value before the next."""
    if text.skip("}"):
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise Refused("not JSON: an object's key is no text")
        text.expect(":")
        yield key
        if not text.skip(","):
            text.expect("}")
            return


def _list(text: _Window) -> Iterator[object]:
    text.expect("[")
    if text.skip("]"):
        return
    while True:
        yield text.value()
        if not text.skip(","):
            text.expect("]")
            return


class _Window:
    """A piece of the text that moves on."""

    def __init__(self, source: Source, notes: Notes) -> None:
        self._pieces = source.texts(notes)
        self._reader = JsonReader(notes)
        self._text = ""
        self._at = 0
        self._over = False
        self._damage: Refused | None = None
        """What ends the text, once all before it was read."""

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # pyright: ignore[reportOptionalMemberAccess]
            if self._at < len(self._text) or not self._read(_MORE):
                return self._text[self._at : self._at + 1]

    def skip(self, mark: str) -> bool:
        """Go past a character, if it is the next."""
        if self.peek() != mark:
            return False
        self._at += 1
        return True

    def expect(self, mark: str) -> None:
        """Go past a character that must be the next."""
        if not self.skip(mark):
            found = self.peek()
            raise Refused(f"not JSON: {mark!r} expected, found {found!r}" if found else "cut off")

    def value(self) -> object:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = self._reader.raw(self._text, self._at)
            except RecursionError as error:
                raise Refused("not readable as JSON: nested too deeply") from error
            except ValueError as error:
                if self._read(max(_MORE, len(self._text) - self._at)):
                    continue
                raise Refused(f"cut off or no JSON: {str(error).partition(':')[0]}") from error
            if end < len(self._text) or self._over or not self._read(_MORE):
                self._at = end
                return value

    def _read(self, more: int) -> bool:
        """Read on; False at the end of the file."""
        if self._damage is not None:
            raise self._damage
        if self._over:
            return False
        kept = [self._text[self._at :]]
        size = len(kept[0])
        wanted = size + more
        while size < wanted:
            try:
                piece = next(self._pieces, None)
            except Refused as damage:
                if len(kept) == 1:
                    raise
                self._damage = damage
                break
            if piece is None:
                self._over = True
                break
            kept.append(piece)
            size += len(piece)
        if size > MOST_BYTES:
            raise Refused("one item is larger than 1 GiB")
        self._text, self._at = "".join(kept), 0
        return len(kept) > 1
