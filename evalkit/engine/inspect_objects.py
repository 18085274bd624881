# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# Inspect has no public way to look a name up without running it.
"""Which of Inspect's objects (task, solver, agent, tool) does a name mean?

`FILE.py@name` is an object that a user's file registers, `package/name` one that an installed package does. Every
mistake (no such file, no such name, a file that does not import, an argument that is missing) is a UsageError.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from inspect_ai._util.decorator import parse_decorators
from inspect_ai._util.module import load_module
from inspect_ai._util.path import chdir_python
from inspect_ai._util.registry import (
    create_registry_object,
    registry_find,
    registry_info,
    registry_lookup,
)

from evalkit.errors import UsageError
from evalkit.tomlfile import nearest

Kind = Literal["task", "solver", "agent", "tool"]


@dataclass(frozen=True, slots=True)
class Found:
    """A factory of one of Inspect's objects, and where it stands."""

    kind: Kind
    name: str
    """As the registry knows it."""
    factory: Callable[..., Any]
    file: Path | None
    """None: of a package."""
    digest: str
    """Of the file's content, or of the package's name and version."""

    @property
    def source(self) -> str:
        """By which it is found again."""
        return self.name if self.file is None else f"{self.file}@{self.name}"

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What the factory takes."""
        return inspect.signature(self.factory).parameters

    def make(self, arguments: Mapping[str, Any]) -> Any:
        """The object. Raises UsageError where an argument is unknown or missing, or the user's code fails."""
        self.check(arguments)
        with _placed(self.file), _told(f"{self.kind} {self.source}", self.file):
            return create_registry_object(self.kind, self.name, dict(arguments))

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise UsageError where an argument is unknown or missing."""
        known = self.parameters
        open_ended = any(one.kind is one.VAR_KEYWORD for one in known.values())
        for name in arguments:
            if name not in known and not open_ended:
                raise UsageError(
                    f"the {self.kind} {self.name} takes no argument {name!r}",
                    where=self.source,
                    hint=nearest(name, known) if known else "It takes none.",
                )
        missing = [
            name
            for name, one in known.items()
            if one.default is one.empty and one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL}
            if name not in arguments
        ]
        if missing:
            how = (
                "Give it: -T {0}=VALUE"
                if self.kind == "task"
                else "Wrap it in a {1} of your own that gives it."
            )
            raise UsageError(
                f"the {self.kind} {self.name} needs a value for {', '.join(missing)}",
                where=self.source,
                hint=how.format(missing[0], self.kind),
            )


def find(text: str, kinds: Sequence[Kind]) -> Found:
    """The object that `FILE.py@name`, `FILE.py` with a single one, or `package/name` means."""
    path, at, name = text.rpartition("@")
    if not at:
        path, name = text, ""
    if path.endswith(".py") or at:
        return _in_file(Path(path).expanduser(), name, kinds, text)
    return _in_package(text, kinds)


def _in_file(path: Path, name: str, kinds: Sequence[Kind], asked: str) -> Found:
    if not path.is_file():
        near = nearest(path.name, (one.name for one in _siblings(path)))
        raise UsageError(
            f"there is no file {path}", where=asked, hint=near.replace("No keys", "No Python files")
        )
    path = path.resolve()
    with _placed(path), _told(f"the file {path}", path), _as_it_is():
        load_module(path)
        known: dict[str, Kind] = {name: kind for kind in kinds for name, *_ in parse_decorators(path, kind)}
    noun = kinds[0]
    if not name and len(known) == 1:
        (name,) = known
    if name not in known:
        listed = nearest(name, known) if known else f"A {noun} is a function with the decorator @{noun}."
        missing = (
            f"holds no {noun} {name!r}" if name else f"holds {len(known) or 'no'} {noun}s; one must be named"
        )
        raise UsageError(f"{path} {missing}", where=asked, hint=listed)
    factory = registry_lookup(known[name], name)
    if factory is None:
        raise UsageError(f"{path} does not register the {noun} {name!r}", where=asked)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Found(known[name], name, cast("Callable[..., Any]", factory), path, digest)


def _siblings(path: Path) -> Iterable[Path]:
    return path.parent.glob("*.py") if path.parent.is_dir() else ()


def _in_package(text: str, kinds: Sequence[Kind]) -> Found:
    package, slash, _ = text.partition("/")
    noun = kinds[0]
    if not slash or not package:
        raise UsageError(
            f"{text!r} names no {noun} of Inspect's",
            hint=f"Write FILE.py@{noun}, or package/{noun} for one of an installed package.",
        )
    if importlib.util.find_spec(package) is None:
        dashed = package.replace("_", "-")
        raise UsageError(
            f"the package {package!r} is not installed", where=text, hint=f"pip install {dashed}"
        )
    with _told(f"the package {package}", None):
        for entry in importlib.metadata.entry_points(group="inspect_ai", name=package):
            entry.load()  # Inspect's own way to do it only logs what goes wrong
    for kind in kinds:
        factory = registry_lookup(kind, text)
        if factory is not None:
            name = registry_info(factory).name
            return Found(kind, name, cast("Callable[..., Any]", factory), None, _version_digest(package))
    known = [
        registry_info(one).name for one in registry_find(lambda info: info.type in kinds and "/" in info.name)
    ]
    own = [name for name in known if name.startswith(f"{package}/")]
    hint = nearest(text, own) if own else f"It registers no {noun}s with Inspect."
    raise UsageError(f"the package {package} has no {noun} {text!r}", where=text, hint=hint)


def _version_digest(package: str) -> str:
    names = importlib.metadata.packages_distributions().get(package, [package])
    versions = sorted(f"{name}=={importlib.metadata.version(name)}" for name in set(names))
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()


def _placed(file: Path | None) -> contextlib.AbstractContextManager[Any]:
    """A user's file is run as Inspect runs it: in its own folder, which can also be imported from."""
    return contextlib.nullcontext() if file is None else chdir_python(file.parent.as_posix())


@contextlib.contextmanager
def _as_it_is() -> Generator[None]:
    """Leave no bytecode beside a user's file: Python takes it for current where a file is changed within a second."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


@contextlib.contextmanager
def _told(what: str, file: Path | None) -> Generator[None]:
    """Whatever a user's code raises is told in one line, with the line of theirs where it happened."""
    try:
        yield
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{what} needs the package {error.name!r}, which is not installed",
            where=_line(error, file),
            hint=f"pip install {str(error.name).partition('.')[0].replace('_', '-')}",
        ) from error
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}".strip()
        raise UsageError(
            f"{what} cannot be loaded: {said.splitlines()[0]}",
            where=_line(error, file),
            hint="Repair it; Inspect itself would stop here too.",
        ) from error


def _line(error: BaseException, file: Path | None) -> str | None:
    """`file:line` of the last place in the user's file that the error went through."""
    if file is None:
        return None
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file}:{error.lineno}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == str(file)]
    return f"{file}:{frames[-1].lineno}" if frames else str(file)
