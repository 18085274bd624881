"""What does a call do, by its tool's name and its arguments?"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping
from typing import cast

from evalkit.engine.approvals.deed import Deed, Deeds
from evalkit.engine.approvals.network import tool_uses_network
from evalkit.engine.approvals.path_glob import resolved
from evalkit.engine.approvals.shell_deeds import MAX_CHARACTERS, code_deeds, parted, shell_deeds
from evalkit.measures.shell_call import SHELL_TOOLS

_LINES = frozenset(("command", "cmd", "shell_command", "script", "line"))
_CODES = frozenset(("code", "program"))
_PATHS = frozenset(
    (
        "path",
        "file",
        "filename",
        "file_path",
        "filepath",
        "dir",
        "directory",
        "folder",
        "cwd",
        "source",
        "destination",
    )
)
_MOST_VALUES = 1_000
MOST_DEEDS = 1_000
"""Of a call that are looked at."""


def deeds_of(tool: str, arguments: Mapping[str, object], base: str) -> Deeds:
    """Everything that a call does, as far as it can be seen. Relative paths start at `base`."""
    each: list[Deed] = []
    wholes: list[str] = []
    others: list[tuple[str, str]] = []
    is_cut = False
    for name, text in _values(arguments):
        is_line = name in _LINES or name == SHELL_TOOLS.get(tool)
        if is_line:
            bare, documents = parted(text)
            wholes.append(bare)
            each.extend(itertools.islice(shell_deeds(text, base), MOST_DEEDS + 1))
            looked_at = [bare, *(document.text for document in documents if document.is_executed)]
        elif name in _CODES:
            wholes.append(text)
            each.extend(itertools.islice(code_deeds(text[:MAX_CHARACTERS], base), MOST_DEEDS + 1))
            looked_at = [text]
        else:
            others.append((name, text))
            continue
        is_cut |= any(len(one) > MAX_CHARACTERS for one in looked_at)
    if others or not each:
        each.append(_other(tool, others, base))
    is_cut |= len(each) > MOST_DEEDS
    return Deeds(tuple(each[:MOST_DEEDS]), "\n".join(wholes) if wholes else None, is_cut)


def _other(tool: str, values: list[tuple[str, str]], base: str) -> Deed:
    paths = [text for name, text in values if name in _PATHS or _looks_like_path(text)]
    absolute = tuple(dict.fromkeys(resolved(path, base) for path in paths if path))
    texts = [text for _, text in values]
    return Deed((), absolute, network=tool_uses_network(tool, texts))


def _looks_like_path(text: str) -> bool:
    return text.startswith(("/", "./", "../", "~/")) and "\n" not in text


def _values(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Every text in the arguments with the name that it stands under; a list of texts as a command is one line."""
    left: list[tuple[str, object]] = list(arguments.items())
    for _ in range(_MOST_VALUES):
        if not left:
            return
        name, value = left.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping):
            left.extend(cast("Mapping[str, object]", value).items())
        elif isinstance(value, list):
            items = cast("list[object]", value)
            if name in _LINES and items and all(isinstance(item, str) for item in items):
                yield name, shlex.join(cast("list[str]", items))
            else:
                left.extend((name, item) for item in items)
