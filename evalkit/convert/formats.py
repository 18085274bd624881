"""Which formats can be imported, and which one is a file in?"""

from __future__ import annotations

import difflib
import importlib
import os

from evalkit.convert.importer import Importer
from evalkit.convert.notes import Refused, Unreadable
from evalkit.convert.source import Source
from evalkit.errors import UsageError

_MODULES = {
    "inspect": "inspect_logs",
    "atif": "atif",
    "mini-swe-agent": "mini_swe_agent",
    "tau-bench": "tau_bench",
    "tau2": "tau2",
    "verifiers": "verifiers",
    "openai-messages": "openai_messages",
    "claude-code": "claude_code",
}
AUTO = "auto"
FORMATS = tuple(_MODULES)
_ENDINGS = (".json", ".jsonl", ".ndjson")
"""Files of these may well be trajectories."""


def importers(name: str) -> tuple[Importer, ...]:
    """The importer of this name, or all for `auto`. Raises UsageError for a name that is none."""
    if name == AUTO:
        return tuple(map(_importer, _MODULES))
    if name not in _MODULES:
        near = difflib.get_close_matches(name, (*_MODULES, AUTO), n=1)
        raise UsageError(
            f"there is no format {name!r}",
            hint=f"Did you mean {near[0]}?" if near else f"Formats: {', '.join((AUTO, *_MODULES))}.",
        )
    return (_importer(name),)


def importer_of(source: Source, among: tuple[Importer, ...]) -> Importer | None:
    """The importer whose format a file is in; None where it is of none of them.

    Raises Refused for a file that cannot be read at all, and for one that by its name must be of one of them, or may
    well be, and cannot be read as such.
    """
    expected = next((importer for importer in among if importer.expects(source.name)), None)
    try:
        found = next((importer for importer in among if importer.recognises(source)), None)
    except Unreadable:
        raise
    except Refused:
        if (
            expected is None
            and not source.named
            and not (source.name.endswith(_ENDINGS) and _is_file(source))
        ):
            return None
        raise
    return found or expected


def _is_file(source: Source) -> bool:
    return os.path.isfile(source.path)  # noqa: PTH113 - Path.is_file raises where a folder on the way is locked


def _importer(name: str) -> Importer:
    module = importlib.import_module(f"evalkit.convert.{_MODULES[name]}")
    return module.IMPORTER
