"""Which value does a JSON text hold, when nobody promised that it is sound?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

from evalkit.convert.notes import Notes, Refused

_DIGITS = 4000
"""Below the length at which Python refuses to turn digits into a number."""
_WORDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a truth value"),
    ((int, float), "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "an object"),
)


class JsonReader:
    """Decodes JSON for one file: NaN and infinities become None, and are remarked on; of a key that comes twice the
    last counts.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._decoder = json.JSONDecoder(
            parse_int=self._integer, parse_float=self._real, parse_constant=self._constant
        )
        self._careful = json.JSONDecoder(
            parse_int=self._integer,
            parse_float=self._real,
            parse_constant=self._constant,
            object_pairs_hook=self._pairs,
        )

    def value(self, text: str, *, duplicates: bool = False) -> object:
        """The value of a whole text. Refused where it is none. `duplicates`: look for keys that come twice, which
        takes longer.
        """
        decoder = self._careful if duplicates else self._decoder
        try:
            return decoder.decode(text)
        except RecursionError as error:
            raise Refused("not readable as JSON: nested too deeply") from error
        except ValueError as error:
            if not text.strip():
                raise Refused("empty") from error
            raise Refused(f"not JSON: {error}") from error

    def object(self, text: str, *, duplicates: bool = False) -> Mapping[str, object]:
        """The same, for a text that must hold an object."""
        value = self.value(text, duplicates=duplicates)
        if not isinstance(value, dict):
            raise Refused(f"holds {kind_of(value)}, not an object")
        return cast("Mapping[str, object]", value)

    def raw(self, text: str, position: int) -> tuple[object, int]:
        """The value that begins at a position, and where it ends. ValueError and RecursionError as json raises them."""
        return self._decoder.raw_decode(text, position)

    def _constant(self, name: str) -> None:
        self._notes.warn(f"{name} is no number and counts as unknown")

    def _integer(self, digits: str) -> int | None:
        if len(digits) < _DIGITS:
            return int(digits)
        self._notes.warn("a number with thousands of digits counts as unknown")
        return None

    def _real(self, digits: str) -> float | None:
        number = float(digits)
        if math.isfinite(number):
            return number
        self._notes.warn("a number too large for a float counts as unknown")
        return None

    def _pairs(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self._notes.warn(f"the key {key[:60]!r} comes twice, and the last counts")
                seen.add(key)
        return found


def kind_of(value: object) -> str:
    """A JSON value's kind, in words."""
    for kinds, word in _WORDS:
        if isinstance(value, kinds):
            return word
    return "null"
