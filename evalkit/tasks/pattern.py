"""Is a pattern harmless, and where does it match?

Patterns come from task files and plan files, the text that they are searched in from models. Python's `re` can take
longer than anybody lives, and nothing in its own process can stop it.
"""

from __future__ import annotations

import asyncio
import re
import sys
import warnings
from functools import lru_cache

MAX_TEXT = 100_000
"""Characters that are searched; what comes after them matches nothing."""
SEARCH_S = 5.0
"""What takes longer does not match."""
_STEPS = 2_000_000
"""Of a search in the worst case, up to which it is made in this process."""
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_REPEAT = re.compile(r"[*+]|\{\d*,\d*\}")
_RISKY = re.compile(r"\)(?:[*+]|\{)|(?:[^(?]\?.*){9}|\(\?P=", re.DOTALL)
"""Repeated groups, many optional parts: whose cost the number of repeats does not tell."""
_BACK = re.compile(r"\\[1-9]")
_SEARCH = "import re,sys,warnings;warnings.simplefilter('ignore');p,_,t=sys.stdin.buffer.read().decode('utf-8','surrogatepass').partition('\\0');sys.exit(0 if re.search(p,t) else 3)"  # fmt: skip  # noqa: E501


def checked(pattern: str) -> str:
    """The pattern itself. Raises ValueError for one that is none, or that repeats what is itself repeated."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a valid regular expression: {error}") from None
    if "\0" in pattern:
        raise ValueError("a pattern cannot hold a zero byte")
    if _is_nested(_bare(pattern)):
        raise ValueError("a group with * or + inside is itself repeated, which can take forever to search")
    return pattern


async def found_in(pattern: str, text: str) -> bool:
    """Whether `re.search` finds a checked pattern in the text. A search that may be long is made by a process of its
    own, which is stopped when its time is over.
    """
    text = text[:MAX_TEXT]
    repeats = _repeats(pattern)
    if repeats is not None and len(text) ** (repeats + 1) <= _STEPS:
        return _compiled(pattern).search(text) is not None
    return await _searched_apart(pattern, text)


async def _searched_apart(pattern: str, text: str) -> bool:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", _SEARCH),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    given = f"{pattern}\0{text}".encode("utf-8", "surrogatepass")
    try:
        async with asyncio.timeout(SEARCH_S):
            await process.communicate(given)
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode == 0


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


@lru_cache(maxsize=256)
def _repeats(pattern: str) -> int | None:
    """How many parts may be of any length; None where that does not bound what a search takes."""
    bare = _bare(pattern)
    if _RISKY.search(bare) or _BACK.search(pattern):
        return None
    return len(_REPEAT.findall(bare))


def _bare(pattern: str) -> str:
    """Without escaped characters and classes, which repeat nothing themselves."""
    return _CLASS.sub("x", _ESCAPED.sub("x", pattern))


def _is_nested(bare: str) -> bool:
    """Whether a group that holds a repeat is repeated."""
    holds: list[bool] = []
    closed = False
    at = 0
    while at < len(bare):
        repeat = _REPEAT.match(bare, at)
        if repeat:
            if closed:
                return True
            if holds:
                holds[-1] = True
            at = repeat.end()
            closed = False
            continue
        closed = False
        if bare[at] == "(":
            holds.append(False)
        elif bare[at] == ")" and holds:
            closed = holds.pop()
            if closed and holds:
                holds[-1] = True
        at += 1
    return False
