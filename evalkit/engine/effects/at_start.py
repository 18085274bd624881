"""What was there before anybody had worked, by which later files are judged?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.measures.tampering.places import program_named
from evalkit.sandbox.protocol import Entry


@dataclass(frozen=True, slots=True)
class AtStart:
    """Names alone; empty where nothing was measured."""

    workdir: str = ""
    programs: frozenset[str] = frozenset()
    """Paths of the programs in the folders of a usual PATH."""
    sources: frozenset[str] = frozenset()
    """Paths of the files of Python in the working directory."""


def at_start(entries: Mapping[str, Entry], workdir: str) -> AtStart:
    """What a snapshot tells of it."""
    home = f"{workdir.rstrip('/')}/"
    return AtStart(
        workdir,
        frozenset(path for path, entry in entries.items() if program_named(path) and entry.kind != "dir"),
        frozenset(path for path in entries if path.endswith(".py") and path.startswith(home)),
    )
