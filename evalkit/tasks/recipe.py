"""What does a task's Dockerfile ask for, as far as a sandbox without an engine can honour it?

Honoured are WORKDIR, ENV, USER, COPY and ADD of local files; FROM is noted. RUN of apt-get or pip becomes a
check for what it installs, RUN of mkdir and chmod a set-up line. Anything else that changes the image makes
`needs_docker` say so.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.tasks import dockerfile
from evalkit.tasks.copying import Context, Copy, needs_engine, place
from evalkit.tasks.dockerfile import Instruction
from evalkit.tasks.runline import RunNeeds, read_run
from evalkit.textfile import read_text

__all__ = ["DEFAULT_WORKDIR", "Copy", "Recipe", "parse_dockerfile", "read_recipe"]

DEFAULT_WORKDIR = "/app"
"""Where a task works whose Dockerfile does not say it."""

_STANDING_FOLDERS = (
    "/",
    "/tmp",  # noqa: S108 - a path inside the image
    "/home",
    "/root",
    "/etc",
    "/opt",
    "/srv",
    "/usr",
    "/usr/local",
    "/usr/local/bin",
    "/var",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a Dockerfile sets up. The default is that of a task without one."""

    base: str | None = None
    """The image it starts from."""
    workdir: str = DEFAULT_WORKDIR
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str | None = None
    copies: tuple[Copy, ...] = ()
    setup: tuple[str, ...] = ()
    """Shell lines (mkdir, chmod) to run inside, in order, after the copies and before the first snapshot."""
    folders: tuple[str, ...] = ()
    """Absolute folders that WORKDIR and mkdir make."""
    programs: tuple[str, ...] = ()
    """Programs that must exist, implied by the packages."""
    modules: tuple[str, ...] = ()
    """Python modules that must be importable, implied by the packages."""
    packages: tuple[str, ...] = ()
    """Packages as named, such as `apt:git` and `pip:numpy`."""
    needs_docker: str | None = None
    """The first thing that only an image build can honour, such as `RUN make at environment/Dockerfile:7`."""
    warnings: tuple[str, ...] = ()


def parse_dockerfile(path: Path, context: Path) -> Recipe:
    """Read a Dockerfile whose build context is `context`.

    Raises ConfigError with file and line where it is no Dockerfile, or copies what is not in the context.
    """
    return _Reader(path, context).read()


def read_recipe(environment: Path, image: str | None) -> Recipe:
    """What a task's `environment/` asks for; `image` is what it starts from where there is no Dockerfile."""
    if not (environment / "Dockerfile").exists():
        return Recipe(base=image)
    return parse_dockerfile(environment / "Dockerfile", environment)


class _Reader:
    """The state of an image while its Dockerfile is read from top to bottom."""

    def __init__(self, path: Path, context: Path) -> None:
        self.path = path
        self.context = Context(context)
        self.base: str | None = None
        self.global_args: dict[str, str] = {}
        self.args: dict[str, str] = {}
        self.env: dict[str, str] = {}
        self.workdir: str | None = None
        self.user: str | None = None
        self.copies: list[Copy] = []
        self.needs = RunNeeds()
        self.folders: set[str] = set(_STANDING_FOLDERS)
        self.needs_docker: str | None = None
        self.warnings: list[str] = []

    def read(self) -> Recipe:
        for instruction in dockerfile.parse(read_text(self.path), str(self.path)):
            try:
                self.take(instruction)
            except ValueError as error:
                raise ConfigError(
                    f"{instruction.name}: {error}", where=f"{self.path}:{instruction.line}"
                ) from None
        if self.base is None:
            raise ConfigError("no FROM: a Dockerfile starts from an image", where=str(self.path))
        return Recipe(
            base=self.base,
            workdir=self.workdir or DEFAULT_WORKDIR,
            env=dict(self.env),
            user=self.user,
            copies=tuple(self.copies),
            setup=tuple(self.needs.setup),
            folders=tuple(dict.fromkeys(posixpath.normpath(folder) for folder in self.needs.folders)),
            programs=tuple(dict.fromkeys(self.needs.programs)),
            modules=tuple(dict.fromkeys(self.needs.modules)),
            packages=tuple(dict.fromkeys(self.needs.packages)),
            needs_docker=self.needs_docker,
            warnings=tuple(self.warnings),
        )

    def take(self, instruction: Instruction) -> None:
        if self.base is None and instruction.name not in ("FROM", "ARG"):
            raise ValueError("this stands before FROM")
        if instruction.heredoc:
            self.only_docker(instruction, "a here-document")
            return
        match instruction.name:
            case "FROM":
                self.start_from(instruction)
            case "ARG":
                self.arg(instruction)
            case "ENV":
                self.env.update(_pairs(instruction.text, self.variables))
            case "WORKDIR":
                self.workdir = self.inside(self.one_word(instruction))
                self.needs.folders.append(self.workdir)
                self.folders.add(self.workdir)
            case "USER":
                self.user = self.one_word(instruction)
            case "COPY" | "ADD":
                self.copy(instruction)
            case "RUN":
                self.run(instruction)
            case "ENTRYPOINT":
                self.warnings.append(f"{self.path}:{instruction.line}: ENTRYPOINT is not run")
            case _:
                pass

    @property
    def variables(self) -> Mapping[str, str]:
        return {**self.args, **self.env}

    def only_docker(self, instruction: Instruction, what: str | None = None) -> None:
        """Note the first thing that cannot be honoured without an engine."""
        if self.needs_docker is None:
            text = what or instruction.text
            shown = text if len(text) <= 80 else f"{text[:77]}..."
            place_name = f"{self.path.parent.name}/{self.path.name}:{instruction.line}"
            self.needs_docker = f"{instruction.name} {shown} at {place_name}"

    def one_word(self, instruction: Instruction) -> str:
        text = dockerfile.expand(instruction.text, self.variables).strip().strip("\"'")
        if not text:
            raise ValueError("a value is missing")
        return text

    def inside(self, path: str) -> str:
        """An absolute path of the image, without a final slash."""
        return "/" + posixpath.normpath(posixpath.join(self.workdir or DEFAULT_WORKDIR, path)).lstrip("/")

    def start_from(self, instruction: Instruction) -> None:
        found = dockerfile.words(instruction.text, self.global_args)
        if not found:
            raise ValueError("the image is missing")
        if self.base is not None:
            self.only_docker(instruction, f"{instruction.text} (several stages)")
            self.copies.clear()
            self.args, self.env, self.workdir, self.user = {}, {}, None, None
        self.base = found[0]

    def arg(self, instruction: Instruction) -> None:
        for word in dockerfile.words(instruction.text, self.variables):
            name, given, value = word.partition("=")
            if self.base is None:
                self.global_args[name] = value
            elif given or name in self.global_args:
                self.args[name] = value if given else self.global_args[name]

    def copy(self, instruction: Instruction) -> None:
        json_words = instruction.json_words
        if json_words is None:
            found = dockerfile.words(instruction.text, self.variables)
        else:
            found = [dockerfile.expand(word, self.variables) for word in json_words]
        if len(found) < 2:
            raise ValueError("a source and a target are needed")
        *sources, target = found
        if needs_engine(instruction.name, instruction.flags, sources):
            self.only_docker(instruction)
            return
        if not target.startswith("/") and self.workdir is None:
            self.warnings.append(
                f"{self.path}:{instruction.line}: without WORKDIR, {target} lies below {DEFAULT_WORKDIR}"
            )
        absolute = self.inside(target) + ("/" if target.endswith(("/", "/.")) or target == "." else "")
        copies = place(
            self.context, sources, absolute, self.folders,
            chown=self.flag(instruction, "chown"), chmod=_mode(self.flag(instruction, "chmod")),
        )  # fmt: skip
        for copy in copies:
            self.copies.append(copy)
            folder = copy.target if copy.source.is_dir() else posixpath.dirname(copy.target)
            while folder not in self.folders:
                self.folders.add(folder)
                folder = posixpath.dirname(folder)

    def flag(self, instruction: Instruction, name: str) -> str | None:
        value = instruction.flags.get(name)
        return None if value is None else dockerfile.expand(value, self.variables)

    def run(self, instruction: Instruction) -> None:
        mounts = instruction.flags.get("mount", "").split()
        special = set(instruction.flags) - {"mount"} or any("type=cache" not in mount for mount in mounts)
        if special or dockerfile.unknown_names(instruction.text, self.variables):
            self.only_docker(instruction)
            return
        line = instruction.json_words or dockerfile.expand(instruction.text, self.variables)
        made = len(self.needs.folders)
        command = read_run(line, self.workdir or DEFAULT_WORKDIR, self.needs, self.requirements)
        self.folders.update(posixpath.normpath(folder) for folder in self.needs.folders[made:])
        if command is not None:
            self.only_docker(instruction, command)

    def requirements(self, name: str) -> Sequence[str] | None:
        """The packages of a requirements file that was copied in before; None where it is not known."""
        wanted = self.inside(name)
        for copy in reversed(self.copies):
            source = copy.source
            if source.is_dir() and wanted.startswith(f"{copy.target.rstrip('/')}/"):
                source = source / wanted.removeprefix(f"{copy.target.rstrip('/')}/")
            elif copy.target != wanted:
                continue
            if source.is_file():
                lines = [line.partition(" #")[0].strip() for line in read_text(source).splitlines()]
                return [line for line in lines if line and not line.startswith("#")]
        return None


def _pairs(text: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of an ENV line, in either form."""
    first = text.split(maxsplit=1)
    if not first:
        raise ValueError("a name and a value are needed")
    if "=" not in first[0]:
        if len(first) < 2:
            raise ValueError(f"{first[0]} has no value")
        return {first[0]: dockerfile.expand(first[1], variables)}
    pairs: dict[str, str] = {}
    for word in dockerfile.words(text, variables):
        name, given, value = word.partition("=")
        if not given or not name:
            raise ValueError(f"{word!r} should have the form NAME=value")
        pairs[name] = value
    return pairs


def _mode(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        mode = int(text, 8)
    except ValueError:
        raise ValueError(f"chmod {text!r} should be an octal number") from None
    if not 0 <= mode <= 0o7777:
        raise ValueError(f"chmod {text!r} should be an octal number")
    return mode
