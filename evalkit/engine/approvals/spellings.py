"""Which paths can a word of a shell line stand for?

Braces, variables that the line itself sets, the working directory, values written into an option, `file:` URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_MOST = 64
"""Words that one word becomes at most."""
_PWD = re.compile(r"\$\(\s*pwd(?:\s+-[LP])?\s*\)|`\s*pwd\s*`")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=]([^}$]*))?\})")
_BRACES = re.compile(r"(?<!\$)\{([^{}]*,[^{}]*)\}")
_URL = re.compile(r"(?:file|sqlite3?):(?://(?:localhost)?(?=/))?([^?#]+)")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ATTACHED = re.compile(r"-[A-Za-z]([^-=].*)", re.DOTALL)
_DECLARING = frozenset(("export", "local", "declare", "readonly", "typeset"))

Values = Mapping[str, tuple[str, ...]]
"""What each variable may hold."""


def with_pwd(line: str) -> str:
    """A line in which `$(pwd)` is one word."""
    return _PWD.sub("$PWD", line)


def spellings(word: str, values: Values) -> tuple[str, ...]:
    """The words that a shell makes of one, with what may be in its variables; the word itself where it is none."""
    found = [word]
    while (at := next((n for n, one in enumerate(found) if _BRACES.search(one)), None)) is not None:
        one = found[at]
        braces = _BRACES.search(one)
        parts = braces[1].split(",") if braces else []
        if len(found) + len(parts) > _MOST or braces is None:
            break
        found[at : at + 1] = [one[: braces.start()] + part + one[braces.end() :] for part in parts]
    for variable in dict.fromkeys(found[1] or found[2] for found in _VARIABLE.finditer(word)):
        held = values.get(variable)
        if held is not None:
            found = [_filled(one, variable, text) for one in found for text in held][:_MOST]
    return tuple(_VARIABLE.sub(lambda left: left[3] or left[0], one) for one in found)


def value_in_option(word: str) -> str | None:
    """The value that stands in the same word as its option, as in `-O/app/x` and `-ox.db`; a guess."""
    found = _ATTACHED.fullmatch(word)
    return None if found is None else found[1]


def in_url(word: str) -> str | None:
    """The path that a URL of this machine names; SQLite takes one, too."""
    found = _URL.match(word)
    if found is None:
        return None
    path = found[1]
    return path[1:] if word.startswith("sqlite") and path.startswith("//") else path


def assigned(words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The variables that a command sets: `X=1`, `export X=1`, `for X in a b`."""
    if words[:1] == ("for",) and words[2:3] == ("in",):
        yield words[1], words[3 : 3 + _MOST]
    for word in words:
        found = _ASSIGNMENT.fullmatch(word)
        if found is not None:
            yield found[1], (found[2],)
        elif word not in _DECLARING and not word.startswith("-"):
            return


def _filled(word: str, variable: str, text: str) -> str:
    return _VARIABLE.sub(lambda found: text if variable in (found[1], found[2]) else found[0], word)
