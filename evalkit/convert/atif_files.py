"""Which files of an agent's run in ATIF belong together?

A run that outgrew its context goes on in further files (`continued_trajectory_ref`), and sub-agents may have files of
their own (`subagent_trajectory_ref`). A reference is followed within the folder only; a prefix that whoever collected
the files put before the name of the first holds for the others too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_object, is_list, objects_in, text_in

_ROOT = "trajectory.json"
_MEMBER = re.compile(r"(?P<prefix>.*?)trajectory\.(?!json)[^/]+\.json(?:\.gz)?", re.DOTALL)
_MOST_FILES = 1000


@dataclass(frozen=True, slots=True)
class Document:
    """One trajectory: a file, or what is embedded in another."""

    path: Path
    root: Mapping[str, object]
    embedded_in: Document | None = None

    @property
    def key(self) -> object:
        """What no other document has."""
        return self.path if self.embedded_in is None else id(self.root)

    @property
    def embedded(self) -> list[Mapping[str, object]]:
        """Trajectories of sub-agents in the same file."""
        return objects_in(self.root.get("subagent_trajectories"))

    @property
    def steps(self) -> list[Mapping[str, object]]:
        return objects_in(self.root.get("steps"))

    @property
    def session(self) -> str | None:
        return text_in(self.root.get("session_id"))

    @property
    def continued(self) -> str | None:
        return text_in(self.root.get("continued_trajectory_ref"))

    def references(self) -> Iterator[Mapping[str, object]]:
        """What its observations say about sub-agents."""
        for step in self.steps:
            for result in objects_in(as_object(step.get("observation")).get("results")):
                yield from subagents_of(result)


def subagents_of(result: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The references to sub-agents of one result, in a list or alone."""
    told = result.get("subagent_trajectory_ref")
    return objects_in(told if is_list(told) else [told])


def read_document(source: Source, notes: Notes) -> Document:
    """Refused where it is no JSON object with a list of steps."""
    root = JsonReader(notes).object(source.text(notes))
    if not is_list(root.get("steps")):
        raise Refused("has no list of steps")
    return Document(source.path, root)


def whole_run(first: Document, notes: Notes) -> list[Document]:
    """The document and those that continue it. One that is not there is remarked on; a bad one is a loss."""
    found = [first]
    seen = {first.path}
    while (name := found[-1].continued) is not None:
        path = beside(first.path, name)
        if path is None:
            notes.warn(f"the trajectory goes on in {name}, which is not beside it")
            break
        if path in seen or len(found) == _MOST_FILES:
            notes.warn(f"the trajectory goes on in {name}, which is in it already")
            break
        try:
            following = read_document(Source(path), notes)
        except Refused as problem:
            notes.lose(f"{name}, in which the trajectory goes on: {problem}")
            break
        if not (following.session or "").startswith(first.session or ""):
            notes.warn("the file in which a trajectory goes on has another session_id")
        found.append(following)
        seen.add(path)
    return found


def beside(path: Path, name: str) -> Path | None:
    """The file of this name in the folder of `path`, or below it; None where it is not there, or outside."""
    folder = path.parent
    own = path.name.removesuffix(".gz")
    prefix = own.removesuffix(_ROOT) if own.endswith(_ROOT) else ""
    if not prefix and (member := _MEMBER.fullmatch(path.name)):
        prefix = member["prefix"]
    try:
        for candidate in (name, prefix + name, name + ".gz", prefix + name + ".gz"):
            file = folder / candidate
            if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
                return file
    except (OSError, ValueError, RuntimeError):
        return None
    return None


def first_file(path: Path) -> Path | None:
    """The file whose run this one is part of, as its continuation or a sub-agent; None where it stands for itself."""
    member = _MEMBER.fullmatch(path.name)
    if member is None:
        return None
    for name in dict.fromkeys((member["prefix"] + _ROOT, _ROOT)):
        root = beside(path.parent / "-", name)
        if root is not None and any(member == path for member in _members(root)):
            return root
    return None


def _members(root: Path) -> Iterator[Path]:
    """The other files of a run, as far as they can be read."""
    seen: set[Path] = set()
    path: Path | None = root
    while path is not None and path not in seen and len(seen) < _MOST_FILES:
        seen.add(path)
        try:
            document = read_document(Source(path), Notes())
        except (Refused, RecursionError):
            return
        names = [text_in(reference.get("trajectory_path")) for reference in document.references()]
        for name in (document.continued, *names):
            if name and (member := beside(root, name)) is not None:
                yield member
        path = beside(root, document.continued) if document.continued else None
