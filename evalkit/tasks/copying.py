"""Which files does a COPY or ADD line put where?"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.tasks.ignore import Rule, dockerignore_rules, glob_fits, ignores
from evalkit.tasks.tree import files_below
from evalkit.textfile import read_text

_GLOB = re.compile(r"[*?\[]")
_ARCHIVE = re.compile(r"\.(tar|tar\.(gz|bz2|xz|zst)|tgz|tbz2?|txz)$", re.IGNORECASE)
_CACHES = "**/__pycache__\n**/*.pyc\n"
"""Never copied: installing a task from a wheel compiles its Python files, and that must change nothing."""
_REMOTE = re.compile(r"(?:https?|ftp|git|ssh)://|git@|https?:")


@dataclass(frozen=True, slots=True)
class Copy:
    """A file or folder of the build context and the absolute path where it goes.

    A folder's contents go into `target`, a file becomes it. None: owner and mode stay as they are.
    """

    source: Path
    target: str
    chown: str | None = None
    chmod: int | None = None


class Context:
    """The folder that a Dockerfile may copy from, without caches and what its .dockerignore leaves out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        ignore_file = root / ".dockerignore"
        ignored = read_text(ignore_file) if ignore_file.is_file() else ""
        self._rules: tuple[Rule, ...] = dockerignore_rules(_CACHES + ignored)

    def find(self, pattern: str) -> list[Path]:
        """The files and folders that a source of COPY names, sorted.

        Raises ValueError where it leaves the context or names nothing that is there.
        """
        name = posixpath.normpath(pattern.lstrip("/")) if pattern.strip("/") else "."
        if name == ".." or name.startswith("../"):
            raise ValueError(f"{pattern!r} leaves the build context")
        if name == ".":
            return [self.root]
        found = list(self._globbed(name)) if _GLOB.search(name) else self._named(name)
        if not found:
            raise ValueError(f"{pattern!r} is not in the build context")
        return found

    def files(self, folder: Path) -> list[Path] | None:
        """The files of a folder that are not left out; None where all of it is taken."""
        files = list(files_below(folder))
        kept = [file for file in files if not self.leaves_out(file)]
        return None if len(kept) == len(files) else kept

    def leaves_out(self, path: Path) -> bool:
        """Whether this file is a cache, or .dockerignore names it."""
        return ignores(self._rules, path.relative_to(self.root).as_posix())

    def _named(self, name: str) -> list[Path]:
        path = self.root / name
        if not path.exists() or (path.is_file() and self.leaves_out(path)):
            return []
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise ValueError(f"{name!r} is a link that leaves the build context")
        return [path]

    def _globbed(self, pattern: str) -> Iterator[Path]:
        depth = pattern.count("/") + 1
        for path in sorted(self._at_depth(self.root, depth)):
            fits = glob_fits(pattern, path.relative_to(self.root).as_posix())
            if fits and (path.is_dir() or not self.leaves_out(path)):
                yield path

    def _at_depth(self, folder: Path, depth: int) -> Iterator[Path]:
        for path in folder.iterdir():
            if depth == 1:
                yield path
            elif path.is_dir() and not path.is_symlink():
                yield from self._at_depth(path, depth - 1)


def needs_engine(name: str, flags: Iterable[str], sources: Sequence[str]) -> bool:
    """Whether only an image build can honour this COPY or ADD: other stages, downloads, archives."""
    if set(flags) - {"chown", "chmod", "link"}:
        return True
    return name == "ADD" and any(_REMOTE.match(source) or _ARCHIVE.search(source) for source in sources)


def place(
    context: Context,
    sources: Sequence[str],
    target: str,
    folders: set[str],
    *,
    chown: str | None,
    chmod: int | None,
) -> Iterator[Copy]:
    """The copies that one line stands for. `target` is absolute; `folders` are those known to exist by now.

    Raises ValueError where a source is missing or several things should become one file.
    """
    found = [path for source in sources for path in context.find(source)]
    is_folder = target.endswith("/") or posixpath.normpath(target) in folders
    if len(found) > 1 and not is_folder and not all(path.is_dir() for path in found):
        raise ValueError(f"several files are copied, so the target {target!r} should end with /")
    base = "/" + posixpath.normpath(target).lstrip("/")
    for path in found:
        if path.is_file():
            yield Copy(path, posixpath.join(base, path.name) if is_folder else base, chown, chmod)
            continue
        kept = context.files(path)
        if kept is None:
            yield Copy(path, base, chown, chmod)
            continue
        for file in kept:
            yield Copy(file, posixpath.join(base, file.relative_to(path).as_posix()), chown, chmod)
