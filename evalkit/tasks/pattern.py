"""Is a pattern harmless, and where does it match?

Patterns come from task files and plan files, the text that they are searched in from models. Python's `re` can take
longer than anybody lives, and nothing in its own process can stop it. So a search is made here only where the parsed
pattern, whatever its flags, bounds what it takes; every other one is made by a process that can be stopped.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

_parser: Any = importlib.import_module("re._parser")
"""The one reading of a pattern that is certain to be re's own: in its text, flags change what each character means."""
_op: Any = importlib.import_module("re._constants")

MAX_TEXT = 100_000
"""Characters that are searched; what comes after them matches nothing."""
MAX_PATTERN = 2_000
"""Characters of a pattern: compiling cannot be stopped either."""
MAX_RANGES = 3_000_000
"""Characters in all ranges of a pattern together; for each of Unicode's, compiling looks at it."""
SEARCH_S = 5.0
"""What takes longer is stopped."""
_STEPS = 2_000_000
"""Of a search in the worst case, up to which it is made in this process."""
_TIMES = 8
"""How often a group is repeated at most in such a search."""
_SEARCH = "import re,resource,sys,warnings;resource.setrlimit(resource.RLIMIT_CPU,(9,9));warnings.simplefilter('ignore');p,*t=sys.stdin.buffer.read().decode('utf-8','surrogatepass').split('\\0');sys.exit(0 if any(re.search(p,x) for x in t) else 3)"  # fmt: skip  # noqa: E501
_FOUND, _ABSENT = 0, 3

Part = tuple[Any, Any]
"""An operation of a parsed pattern with what belongs to it, as re's parser makes them."""


def checked(pattern: str) -> str:
    """The pattern itself. Raises ValueError for one that is none, or that repeats what is itself repeated."""
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"a pattern has at most {MAX_PATTERN:,} characters")
    try:
        parsed = _parsed(pattern)
        if _in_ranges(parsed) > MAX_RANGES:
            raise ValueError(f"its ranges span more than {MAX_RANGES:,} characters together")
        _compiled(pattern)
        nested = _is_nested(parsed)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a valid regular expression: {error}") from None
    if "\0" in pattern:
        raise ValueError("a pattern cannot hold a zero byte")
    if nested:
        raise ValueError("a group with * or + inside is itself repeated, which can take forever to search")
    return pattern


async def found_in(pattern: str, text: str) -> bool | None:
    """Whether `re.search` finds a checked pattern in the text; None where the search was stopped before it could tell.

    A search that may be long is made by a process of its own, which is stopped when its time is over.
    """
    return await _found(pattern, (text,))


async def found_in_any(pattern: str, texts: Iterable[str]) -> bool | None:
    """Whether it finds one in any of the texts; None where it could not be told of one, and none is in the others.

    Texts without what every match holds are not searched.
    """
    needed = _needed(pattern)
    return await _found(pattern, [text for text in texts if needed in text])


async def _found(pattern: str, texts: Iterable[str]) -> bool | None:
    long: list[str] = []
    for text in (whole[:MAX_TEXT] for whole in texts):
        if most_steps(pattern, len(text)) > _STEPS:
            long.append(text)
        elif _compiled(pattern).search(text) is not None:
            return True
    return await _searched_apart(pattern, long) if long else False


def most_steps(pattern: str, length: int) -> float:
    """How many steps a search of a text of this length takes at most, about; infinite where nothing bounds it."""
    parsed = _parsed(pattern)
    return (length + 1) * _ways(parsed, length) * _size(parsed)


async def _searched_apart(pattern: str, texts: Sequence[str]) -> bool | None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", _SEARCH),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    # A zero byte parts the texts; in one of them it is as any other character that no pattern means.
    plain = (text.replace("\0", "\ufffd") for text in texts)
    given = "\0".join((pattern, *plain)).encode("utf-8", "surrogatepass")
    try:
        async with asyncio.timeout(SEARCH_S):
            await process.communicate(given)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return {_FOUND: True, _ABSENT: False}.get(process.returncode or _FOUND)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> tuple[Part, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parts(_parser.parse(pattern))


def _parts(parsed: Any) -> tuple[Part, ...]:
    return tuple(cast("list[Part]", parsed.data))


@lru_cache(maxsize=256)
def _needed(pattern: str) -> str:
    """The longest text that whatever it matches holds; empty where there is none, or capitals do not count."""
    if _compiled(pattern).flags & re.IGNORECASE:
        return ""
    runs = [""]
    for kind, value in _parsed(pattern):
        if kind is _op.LITERAL:
            runs[-1] += chr(int(value))
        else:
            runs.append("")
    return max(runs, key=len)


_SINGLE = frozenset({_op.LITERAL, _op.NOT_LITERAL, _op.ANY, _op.IN, _op.AT})
_GREEDY = frozenset({_op.MAX_REPEAT, _op.MIN_REPEAT})


def _ways(parts: tuple[Part, ...], length: int) -> float:
    """In how many ways a part of the text can be matched, at most."""
    return math.prod(_ways_of(part, length) for part in parts)


def _ways_of(part: Part, length: int) -> float:
    kind, value = part
    if kind in _SINGLE:
        return 1.0
    if kind is _op.BRANCH:
        return sum(_ways(branch, length) for branch in _inner(part))
    if kind is _op.SUBPATTERN:
        return _ways(_parts(value[-1]), length)
    if kind not in _GREEDY:
        return math.inf  # what looks around or back takes more than its number of ways tells
    most, repeated = int(value[1]), _parts(value[2])
    if len(repeated) == 1 and repeated[0][0] in _SINGLE:
        return min(most, length) + 1.0
    ways = _ways(repeated, length)
    return math.inf if most > _TIMES or ways > _STEPS else (1.0 + ways) ** most


def _size(parts: tuple[Part, ...]) -> int:
    """How many single steps one way through it takes."""
    return 1 + sum(
        1 + sum(_size(inner) for inner in _inner(part)) * (_TIMES if part[0] in _GREEDY else 1)
        for part in parts
    )


def _inner(part: Part) -> Iterator[tuple[Part, ...]]:
    """The patterns inside of a part: single ones, and of alternatives a list."""
    held = cast("tuple[Any, ...]", part[1]) if isinstance(part[1], tuple) else (part[1],)
    for one in held:
        for inner in cast("list[Any]", one) if isinstance(one, list) else [one]:
            if isinstance(inner, _parser.SubPattern):
                yield _parts(inner)


def _in_ranges(parts: tuple[Part, ...]) -> int:
    """How many characters all of its ranges span together."""
    return sum(
        sum(int(span[1]) - int(span[0]) for kind, span in part[1] if kind is _op.RANGE)
        if part[0] is _op.IN
        else sum(map(_in_ranges, _inner(part)))
        for part in parts
    )


def _is_nested(parts: tuple[Part, ...]) -> bool:
    """Whether a group that holds a repeat of varying length is itself repeated so."""
    return any(
        (_varies(part) and any(_holds_repeat(inner) for inner in _inner(part)))
        or any(_is_nested(inner) for inner in _inner(part))
        for part in parts
    )


def _holds_repeat(parts: tuple[Part, ...]) -> bool:
    return any(_varies(part) or any(_holds_repeat(inner) for inner in _inner(part)) for part in parts)


def _varies(part: Part) -> bool:
    """Whether it is a repeat that can give back what it took; `?` and a fixed number are none."""
    kind, value = part
    return kind in _GREEDY and int(value[1]) > 1 and int(value[0]) != int(value[1])
