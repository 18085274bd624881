"""Which files are meant by the paths that somebody named?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evalkit.convert.source import Source, why_unreadable
from evalkit.errors import UsageError

Unread = Callable[[str, str], None]
"""Is told of a folder that cannot be read, and why."""


def gathered(paths: Sequence[Path], unread: Unread) -> list[Source]:
    """Every file that is meant, each once, in a stable order.

    Files and folders whose names begin with a dot are left out, and links to folders are not followed. A folder that
    cannot be read stops nothing. Raises UsageError for a path that is not there.
    """
    found: dict[str, Source] = {}
    for path in paths:
        if not os.path.lexists(path):
            _check_missing(path)
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a folder on the way is locked
            files, named = _walk(path, unread), False
        else:
            files, named = iter((path,)), True
        for file in files:
            found.setdefault(_real(file), Source(file, named))
    return list(found.values())


def _real(file: Path) -> str:
    """The file that a link leads to; the link itself where that may not be known."""
    try:
        return os.path.realpath(file)
    except OSError:
        return os.path.abspath(file)  # noqa: PTH100 - nothing is to be looked up


def _check_missing(path: Path) -> None:
    """Raises UsageError unless something hides whether there is such a path: then its reading tells what."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "To import what another program prints, write it into a file." if str(path) == "-" else None
        raise UsageError("there is no such file or folder", where=str(path), hint=hint) from error
    except OSError:
        return


def _walk(folder: Path, unread: Unread) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        unread(str(error.filename or folder), why_unreadable(error))

    for place, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))
