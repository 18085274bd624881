"""Which spellings has Harbor replaced, and what are they today?"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any, cast

from evalkit.tomlfile import TomlFile, dotted
from evalkit.tomlkeys import KeyPath

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMG])\s*", re.IGNORECASE)
_MEGABYTES = {"K": 1 / 1024, "M": 1, "G": 1024}
_MAX_MEGABYTES = 2**40


def modernised(source: TomlFile, *prefix: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The document (below `prefix`) in today's spelling, and a warning for each old one that was used.

    Raises ConfigError where an old spelling has an unusable value or contradicts the new one.
    """
    document = copy.deepcopy(source.table(*prefix))
    warnings: list[str] = []
    if "version" in document:
        old = document.pop("version")
        document.setdefault("schema_version", old)
        warnings.append(_deprecated(source, (*prefix, "version"), "schema_version"))
    for path, table in _environments(document):
        warnings.extend(_modernise(source, (*prefix, *path), table))
    return document, tuple(warnings)


def _environments(document: dict[str, Any]) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Every table of the document that has the fields of `[environment]`."""
    steps = document.get("steps")
    paths: list[KeyPath] = [("environment",), ("verifier", "environment")]
    if isinstance(steps, list):
        count = len(cast("list[object]", steps))
        paths += [("steps", index, "verifier", "environment") for index in range(count)]
    for path in paths:
        found: Any = document
        for part in path:
            found = found[part] if isinstance(part, int) else _get(found, part)
        if isinstance(found, dict):
            yield path, cast("dict[str, Any]", found)


def _get(table: object, key: str) -> object:
    return cast("dict[str, object]", table).get(key) if isinstance(table, dict) else None


def _modernise(source: TomlFile, path: KeyPath, table: dict[str, Any]) -> Iterator[str]:
    for old in ("memory", "storage"):
        if old not in table:
            continue
        new, size = f"{old}_mb", _megabytes(source, (*path, old), table.pop(old))
        if table.setdefault(new, size) != size:
            raise source.error(
                f"{old} ({size} MB) and {new} ({table[new]}) contradict each other",
                (*path, old),
                f"Keep {new} and delete {old}.",
            )
        yield _deprecated(source, (*path, old), new)
    if "allow_internet" in table:
        allowed = table.pop("allow_internet")
        if not isinstance(allowed, bool):
            raise source.error(
                f"{dotted((*path, 'allow_internet'))} should be true or false", (*path, "allow_internet")
            )
        if "allowed_hosts" not in table:
            table.setdefault("network_mode", "public" if allowed else "no-network")
        yield _deprecated(source, (*path, "allow_internet"), "network_mode")


def _megabytes(source: TomlFile, path: KeyPath, size: object) -> int:
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    number = float(match.group(1)) * _MEGABYTES[match.group(2).upper()] if match else 0
    if not 1 <= number <= _MAX_MEGABYTES:
        raise source.error(f"{dotted(path)} should be a size such as 512M or 2G", path)
    return int(number)


def _deprecated(source: TomlFile, path: KeyPath, new: str) -> str:
    return f"{source.where(path)}: {dotted(path)} is an old spelling; write {new}"
