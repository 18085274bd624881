"""Which digest pins a task, and which a suite?

A task's digest is Harbor's content hash: sha256 over the sorted lines `path NUL sha256(content)` of the files
that a package of the task would hold. A folder `twin/`, of which Harbor knows nothing, counts here too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evalkit.errors import ConfigError
from evalkit.tasks.ignore import Rule, gitignore_rules, ignores, verdict
from evalkit.tasks.tree import files_below
from evalkit.textfile import read_text

_FILES = ("task.toml", "instruction.md", "README.md", "trajectory.json")
_FOLDERS = ("environment", "tests", "solution", "steps", "twin")
_IGNORED_BY_DEFAULT = "__pycache__/\n*.pyc\n.DS_Store\n*.swp\n*.swo\n*~\n"
_TESTS = re.compile(r"(?:steps/[^/]+/)?tests/")
_HARBORIGNORE = ".harborignore"
_HARBORIGNORE_SCOPE = re.compile(r"(?:steps/[^/]+/)?(?:tests|solution)(?:/|$)")


def task_digest(path: Path) -> str:
    """Digest of a task folder; without a `twin/` equal to the one Harbor computes.

    Left out are files that the task's .gitignore names (without one: caches and editors' leftovers) and,
    below tests/ and solution/, what .harborignore files name. Raises ConfigError for unreadable files.
    """
    return lines_digest((name, _file_digest(path / name)) for name in packaged_files(path))


def part_digests(path: Path) -> dict[str, str]:
    """The digest of each part of a task, to say what of it has changed: `tests`, whichever stage they are of, and
    every other file or folder at its top by name.
    """
    parts: dict[str, list[str]] = {}
    for name in packaged_files(path):
        part = "tests" if _TESTS.match(name) else name.partition("/")[0]
        parts.setdefault(part, []).append(name)
    return {
        part: lines_digest((name, _file_digest(path / name)) for name in names)
        for part, names in parts.items()
    }


def packaged_files(path: Path) -> list[str]:
    """The files that count for a task's digest, relative to it, sorted."""
    ignore_file = path / ".gitignore"
    rules = gitignore_rules(read_text(ignore_file) if ignore_file.is_file() else _IGNORED_BY_DEFAULT)
    names = [name for name in _FILES if (path / name).is_file()]
    for folder in _FOLDERS:
        if (path / folder).is_dir():
            names += [file.relative_to(path).as_posix() for file in files_below(path / folder)]
    inner = _harborignores(path, names)
    return sorted(name for name in names if not ignores(rules, name) and not _harbor_ignores(inner, name))


def suite_digest(tasks: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Digest of a suite: its tasks' digests by id, and those of its own settings that change a result."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), default=str)
    own = ("suite.toml", hashlib.sha256(canonical.encode()).hexdigest())
    return lines_digest([*((f"tasks/{name}", digest) for name, digest in tasks.items()), own])


def lines_digest(lines: Iterable[tuple[str, str]]) -> str:
    """sha256 over the sorted lines `name NUL digest`, in hex."""
    outer = hashlib.sha256()
    for name, digest in sorted(lines):
        outer.update(f"{name}\0{digest}\n".encode())
    return outer.hexdigest()


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"the file cannot be read: {error.strerror}", where=str(path)) from None


def _harborignores(path: Path, names: Iterable[str]) -> dict[str, tuple[Rule, ...]]:
    """The rules of every .harborignore that has a say, by the folder it stands in."""
    return {
        folder: gitignore_rules(read_text(path / name))
        for name in names
        for folder, _, file in [name.rpartition("/")]
        if file == _HARBORIGNORE and _HARBORIGNORE_SCOPE.match(folder)
    }


def _harbor_ignores(inner: Mapping[str, tuple[Rule, ...]], name: str) -> bool:
    """Whether a .harborignore leaves a file out; one that stands deeper has the last word."""
    parts = name.split("/")
    if parts[-1] == _HARBORIGNORE:
        return True
    ignored = False
    for depth in range(1, len(parts)):
        decided = verdict(inner.get("/".join(parts[:depth]), ()), "/".join(parts[depth:]))
        ignored = ignored if decided is None else decided
    return ignored
