"""Which files do the patterns of a .gitignore, .harborignore or .dockerignore leave out?

Globs are matched part by part of a path, so that no pattern can take more than time in proportion to
its length and the path's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_Parts = tuple[re.Pattern[str] | None, ...]
"""One regular expression a part of the path; None stands for `**`, any number of parts."""

_ANYTHING = re.compile(r".+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern. `keeps` marks an exception (`!pattern`), `folders_only` a pattern with a final slash."""

    parts: _Parts
    keeps: bool = False
    folders_only: bool = False


def gitignore_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a .gitignore. A pattern without a slash before its end matches at any depth."""
    rules: list[Rule] = []
    for raw in text.splitlines():
        line = raw if raw.endswith("\\ ") else raw.rstrip()
        if not line or line.startswith("#"):
            continue
        keeps = line.startswith("!")
        pattern = line.removeprefix("!")
        body = pattern.rstrip("/")
        if not body:
            continue
        parts = _compile(body.removeprefix("/"))
        if "/" not in body:
            parts = (None, *parts)
        rules.append(Rule(parts, keeps, folders_only=pattern.endswith("/")))
    return tuple(rules)


def dockerignore_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a .dockerignore: every pattern starts at the root of the build context."""
    rules: list[Rule] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").strip().strip("/").removeprefix("./")
        if pattern not in ("", "."):
            rules.append(Rule(_compile(pattern), keeps=line.startswith("!")))
    return tuple(rules)


def ignores(rules: Iterable[Rule], path: str) -> bool:
    """Whether a file (relative, with `/`) is left out: the last rule that fits it or its folders decides."""
    return verdict(rules, path) is True


def verdict(rules: Iterable[Rule], path: str) -> bool | None:
    """Whether the rules leave a file out (True) or keep it (False); None where none of them fits it."""
    parts = path.split("/")
    decided: bool | None = None
    for rule in rules:
        depths = _fitting_depths(rule.parts, parts)
        if any(depth < len(parts) or not rule.folders_only for depth in depths):
            decided = not rule.keeps
    return decided


def glob_fits(pattern: str, path: str) -> bool:
    """Whether a glob fits a whole relative path: `*` and `?` stop at `/`."""
    parts = path.split("/")
    return len(parts) in _fitting_depths(_compile(pattern), parts)


def _fitting_depths(pattern: _Parts, parts: Sequence[str]) -> list[int]:
    """For which numbers of leading parts the pattern fits them."""
    states = _skipping(pattern, {0})
    depths: list[int] = []
    for depth, part in enumerate(parts, start=1):
        after: set[int] = set()
        for state in states:
            if state == len(pattern):
                continue
            regex = pattern[state]
            if regex is None:
                after.add(state)
            elif regex.fullmatch(part):
                after.add(state + 1)
        states = _skipping(pattern, after)
        if len(pattern) in states:
            depths.append(depth)
    return depths


def _skipping(pattern: _Parts, states: set[int]) -> set[int]:
    """The states, and those that follow because `**` may stand for nothing."""
    for state in list(states):
        while state < len(pattern) and pattern[state] is None:
            state += 1  # noqa: PLW2901 - it walks on from where it was
            states.add(state)
    return states


def _compile(pattern: str) -> _Parts:
    parts: list[re.Pattern[str] | None] = [
        None if part == "**" else _part(part) for part in pattern.split("/")
    ]
    return (*parts, _ANYTHING) if parts[-1] is None else tuple(parts)


def _part(glob: str) -> re.Pattern[str]:
    """A glob without slashes as a regular expression; each star takes the first fit and never goes back."""
    chunks: list[list[str]] = [[]]
    at = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            chunks.append([])
        elif char == "?":
            chunks[-1].append(".")
        elif char == "[" and (found := _group(glob, at)):
            chunks[-1].append(found[0])
            at = found[1]
        elif char == "\\" and at < len(glob):
            chunks[-1].append(re.escape(glob[at]))
            at += 1
        else:
            chunks[-1].append(re.escape(char))
    first, *middle = ("".join(chunk) for chunk in chunks)
    if not middle:
        return re.compile(first, re.DOTALL)
    last = middle.pop()
    stars = "".join(f"(?>.*?{chunk})" for chunk in middle if chunk)
    return re.compile(f"{first}{stars}.*{last}", re.DOTALL)


def _group(glob: str, at: int) -> tuple[str, int] | None:
    """The bracket expression that begins before `at` as a regular expression, and where it ends."""
    negated = glob[at : at + 1] in ("!", "^")
    start = at + negated
    end = glob.find("]", start + 1)
    if end < 0 or "--" in glob[start:end]:
        return None
    inner = re.sub(r"([\\\[\]&~|^])", r"\\\1", glob[start:end])
    group = f"[{'^' if negated else ''}{inner}]"
    try:
        re.compile(group)
    except re.error:
        return None
    return group, end + 1
