"""Which project are we in, and which suite, scorer or report does a name mean?

A project is a folder with `evalkit.toml`. Its own `suites/`, `scorers/` and `reports/` are looked into first,
then the bundled ones. Content is only ever found as files here, never imported by name.
"""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evalkit import _content
from evalkit.errors import UsageError
from evalkit.textfile import readable
from evalkit.tomlfile import nearest, read_toml

PROJECT_FILE = "evalkit.toml"
Kind = Literal["suites", "scorers", "reports"]

_CONTENT_FILES: dict[Kind, tuple[str, ...]] = {
    "suites": (),
    "scorers": (".py",),
    "reports": (".html.j2", ".html", ".md.j2", ".txt.j2"),
}
"""Endings of files that have a name; folders have one too."""


def _as_text(value: object) -> object:
    """A budget in tokens may be written as a number."""
    return str(value) if type(value) is int else value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("should not be empty")
    return text


Text = Annotated[str, AfterValidator(_not_empty)]
Count = Annotated[int, Field(strict=True, ge=1)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunDefaults(_Section):
    """`[run]`: what `evalkit run` does unless a flag says otherwise. None and empty: not set."""

    suites: tuple[Text, ...] = ()
    models: tuple[Text, ...] = ()
    thinking: tuple[Annotated[Text, BeforeValidator(_as_text)], ...] = ()
    thinking_nearest: Annotated[bool, Field(strict=True)] | None = None
    epochs: Count | None = None
    sandbox: Text | None = None
    out: Text | None = None
    loop: Text | None = None
    tool_settings: Text | None = None
    approvals: Text | None = None
    faults: Text | None = None
    effects: Annotated[bool, Field(strict=True)] | None = None
    """Whether lasting changes are measured."""
    twins: Annotated[bool, Field(strict=True)] | None = None
    """Whether impossible twins of tasks are run, too."""
    checkpoints: Annotated[bool, Field(strict=True)] | None = None
    """Whether states of agents' work are copied while they work, and graded."""
    checkpoint_stride: Count | None = None
    checkpoint_budget: Annotated[int, Field(strict=True, ge=0)] | None = None
    task: Text | None = None
    """A glob of task ids."""
    limit: Count | None = None
    max_trials: Count | None = None
    step_limit: Count | None = None
    token_limit: Count | None = None
    time_limit_s: Positive | None = None
    cost_limit: Positive | None = None
    """Dollars, of the whole run."""
    trial_cost_limit: Positive | None = None
    """Dollars, of each trial."""
    base_url: Text | None = None
    max_tokens: Count | None = None
    """Of one generation."""
    temperature: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    seed: Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)] | None = None
    executor: Text | None = None


class GateDefaults(_Section):
    """`[gate]`: files, relative to the project."""

    policy: Text | None = None
    baseline: Text | None = None


class SandboxDefaults(_Section):
    """`[sandbox]`."""

    readonly: tuple[Text, ...] = ()
    """Further host folders that local sandboxes may read."""
    runtime: Text | None = None
    """The container runtime of docker sandboxes, such as runsc."""


class McpDefaults(_Section):
    """`[mcp.NAME]`: a server whose tools every agent gets. Either `command` or `url`."""

    command: Text | None = None
    args: tuple[str, ...] = ()
    url: Text | None = None
    tools: tuple[Text, ...] | None = None
    """Globs of the tools that agents get; all, if not set."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either a command or a url")
        return self


class ProjectSettings(_Section):
    """All of an evalkit.toml."""

    run: RunDefaults = Field(default_factory=RunDefaults)
    gate: GateDefaults = Field(default_factory=GateDefaults)
    sandbox: SandboxDefaults = Field(default_factory=SandboxDefaults)
    tools: tuple[Text, ...] = ()
    """The user's own tools, as `file.py@name`."""
    mcp: Mapping[str, McpDefaults] = Field(default_factory=dict[str, McpDefaults])
    """MCP servers by name."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder whose evalkit.toml gives defaults and whose folders hold content of its own."""

    root: Path
    """Absolute."""
    settings: ProjectSettings = field(default_factory=ProjectSettings)
    path: Path | None = None
    """The evalkit.toml; None where there is none."""
    bundled: Path = _content.ROOT
    """The folder that holds the content that comes with evalkit."""

    def file(self, name: str) -> Path:
        """A path that evalkit.toml names: relative ones start at the project's folder."""
        return self.root / Path(name).expanduser()

    def names(self, kind: Kind) -> tuple[str, ...]:
        """The names of this kind, of the project and bundled, sorted."""
        with readable(self.root / kind):
            return tuple(
                sorted({name for folder in self._folders(kind) for name, _ in _contents(folder, kind)})
            )

    def bundled_names(self, kind: Kind) -> tuple[str, ...]:
        """The names of this kind that come with evalkit, sorted."""
        return tuple(sorted({name for name, _ in _contents(self.bundled / kind, kind)}))

    def resolve(self, kind: Kind, name: str) -> Path:
        """The file or folder that `name` means.

        An existing path is used as it is (relative to the working directory, then to the project).
        Raises UsageError for an unknown name, and for one that means different files.
        """
        if not name.strip():
            raise UsageError(f"the name of a {kind.removesuffix('s')} is empty", hint=self._hint(kind, name))
        with readable(Path(name)):
            for path in (Path(name), self.file(name)):
                if path.exists():
                    return path.absolute()
            return self._by_name(kind, name)

    def _folders(self, kind: Kind) -> tuple[Path, ...]:
        own, bundled = self.root / kind, self.bundled / kind
        return (own,) if own.resolve() == bundled.resolve() else (own, bundled)

    def _by_name(self, kind: Kind, name: str) -> Path:
        noun = kind.removesuffix("s")
        found = [
            path for folder in self._folders(kind) for known, path in _contents(folder, kind) if known == name
        ]
        if not found:
            if "/" in name:
                raise UsageError(
                    f"no {noun} is at {name}", hint=f"Relative paths start at {Path.cwd()} or {self.root}."
                )
            raise UsageError(f"there is no {noun} {name!r}", hint=self._hint(kind, name))
        for other in found[1:]:
            if not _same(found[0], other):
                raise UsageError(
                    f"two different {kind} have the name {name!r}: {found[0]} and {other}",
                    hint="Rename yours, or give the path instead of the name.",
                )
        return found[0]

    def _hint(self, kind: Kind, name: str) -> str:
        names = self.names(kind)
        if not names:
            return f"No {kind} are in {self.root / kind}."
        listed = f"Known {kind}: {', '.join(names)}."
        near = nearest(name, names)
        return f"{near} {listed}" if near.startswith("Did you mean") else listed


def find_project(start: Path | None = None) -> Project:
    """The project that `start` (the working directory, if None) lies in.

    The nearest evalkit.toml at or above it decides; without any, `start` itself is a project.
    Raises ConfigError with file and line for an invalid evalkit.toml.
    """
    here = (start or Path.cwd()).absolute()
    with readable(here):
        here = here.parent if here.is_file() else here
        for folder in (here, *here.parents):
            if (folder / PROJECT_FILE).exists():
                return _read(folder)
    return Project(here)


def _read(root: Path) -> Project:
    source = read_toml(root / PROJECT_FILE)
    return Project(root, source.validate(ProjectSettings, source.data), source.path)


def _contents(folder: Path, kind: Kind) -> Iterator[tuple[str, Path]]:
    """The content of a folder by name: files without their ending, and folders."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield path.name, path
            continue
        ending = next((ending for ending in _CONTENT_FILES[kind] if path.name.endswith(ending)), None)
        if ending:
            yield path.name.removesuffix(ending), path


def _same(one: Path, other: Path) -> bool:
    """Whether two files or folders hold the same bytes."""
    if one.resolve() == other.resolve():
        return True
    if one.is_file() and other.is_file():
        return filecmp.cmp(one, other, shallow=False)
    if not (one.is_dir() and other.is_dir()):
        return False
    names = _files(one)
    return names == _files(other) and all(
        filecmp.cmp(one / name, other / name, shallow=False) for name in names
    )


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}
