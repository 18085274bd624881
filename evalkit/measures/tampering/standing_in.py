"""Which new files in a folder of tests are read in place of one that was there?"""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from evalkit.measures.tampering.places import MODULES, kind_of

_LIBRARIES = (".so", ".pyd")
_ROOTS = ("", "src")
"""Folders of a working directory whose modules are imported by their bare names."""


def stands_in(path: str, *, sources: Collection[str] = (), workdir: str = "") -> str | None:
    """What a runner would not read any more because of a new file; None where it is only one more file.

    `sources` are the files of Python that were in the working directory.
    """
    module = module_of(path)
    if module is None:
        return None
    if module in MODULES:
        return f"the module {module}"
    roots = {posixpath.join(workdir, root).rstrip("/") for root in _ROOTS} if workdir else set[str]()
    for source in sorted(sources):
        if source == path or module_of(source) != module:
            continue
        is_beside = _home(source) == _home(path)
        is_imported = _home(source) in roots and kind_of(source) != "test"
        if is_beside or is_imported:
            return source
    return None


def module_of(path: str) -> str | None:
    """The name that Python imports a file by; None for what it does not import."""
    folder, _, name = path.rpartition("/")
    if name == "__init__.py":
        return folder.rpartition("/")[2] or None
    stem, dot, ending = name.partition(".")
    return stem if dot and (ending == "py" or f".{ending}".endswith(_LIBRARIES)) else None


def _home(path: str) -> str:
    """The folder that a module, or the folder of a package, is in."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[0] if name == "__init__.py" else folder
