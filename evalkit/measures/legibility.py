"""Could somebody who can read the task read the thinking?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

RUN = 6
"""Symbols in a row from which on they are a run."""
_SYMBOLS = re.compile(rf"[^\w\s]{{{RUN},}}")
_LETTERS = re.compile(r"[^\W\d_]+")
_JAPANESE = frozenset({"HIRAGANA", "KATAKANA"})


@dataclass(frozen=True, slots=True)
class Legibility:
    """What stands in the way of reading a text."""

    foreign: int
    """Letters of scripts that the task does not use."""
    letters: int
    switches: int
    """Changes of script from word to word."""
    symbol_runs: int
    """Runs of six symbols or more."""
    chars: int


def legibility(texts: Iterable[str], task: Iterable[str]) -> Legibility:
    """Of all texts together; `task` is what the agent was told. A single Greek letter is mathematics, and no script."""
    known = {script for told in task for script in _scripts(told)}
    foreign = letters = switches = runs = chars = 0
    for text in texts:
        chars += len(text)
        runs += len(_SYMBOLS.findall(text))
        if text.isascii():
            count = sum(map(len, _LETTERS.findall(text)))
            letters += count
            foreign += 0 if "LATIN" in known else count
            continue
        before: str | None = None
        for script, count in _stretches(text):
            letters += count
            foreign += 0 if script in known else count
            switches += before is not None and before != script
            before = script
    return Legibility(foreign, letters, switches, runs, chars)


def _scripts(text: str) -> set[str]:
    if text.isascii():
        return {"LATIN"} if _LETTERS.search(text) else set()
    return {script for script, _ in _stretches(text)}


def _stretches(text: str) -> Iterable[tuple[str, int]]:
    """Script and length of each stretch of letters of one script."""
    for word in _LETTERS.findall(text):
        if len(word) == 1 and _script(word) == "GREEK":
            continue
        script, count = _script(word[0]), 0
        for letter in word:
            own = _script(letter)
            if own != script:
                yield script, count
                script, count = own, 0
            count += 1
        yield script, count


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    """The first word of the character's name, which is its script; of Japanese, with the Chinese signs that it uses."""
    name = unicodedata.name(letter, "UNKNOWN").partition(" ")[0]
    return "CJK" if name in _JAPANESE else name
