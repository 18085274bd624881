"""Where are the simulations of a `results.json` of tau2-bench that holds none itself?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evalkit.convert.json_text import JsonReader
from evalkit.convert.naming import name_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import objects_in

_FOLDER = "simulations"
_ENDS = (".json", ".json.gz")


def simulations_beside(
    source: Source, header: Mapping[str, object], notes: Notes
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The simulations in the folder beside a file, one at a time, each with its name. One that cannot be read is a
    loss, and so is one that the file's index names and that is not there.
    """
    indexed = {
        name for entry in objects_in(header.get("simulation_index")) if (name := name_of(entry.get("id")))
    }
    for path in _files(source.path.parent / _FOLDER, notes):
        name = path.name.removesuffix(".gz").removesuffix(".json")
        indexed.discard(name)
        try:
            yield name, JsonReader(notes).object(Source(path).text(notes))
        except (Refused, RecursionError) as problem:
            reason = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
            notes.lose(f"{_FOLDER}/{path.name}: {reason}")
    for name in sorted(indexed)[:20]:
        notes.lose(f"simulation {name[:100]}: the index names it, and it is not in the folder {_FOLDER}")
    notes.lose("further simulations of the index that are not there", len(indexed) - 20)


def _files(folder: Path, notes: Notes) -> list[Path]:
    try:
        if not folder.is_dir():
            return []
        return sorted(
            path for path in folder.iterdir() if path.name.endswith(_ENDS) and not path.name.startswith(".")
        )
    except OSError as error:
        notes.lose(f"the folder {_FOLDER} cannot be read: {error.strerror or error}")
        return []
