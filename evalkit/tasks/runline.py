"""What does a RUN line install or prepare, and can a sandbox without an engine honour it?

Packages become checks, `mkdir` and `chmod` become set-up lines; everything else needs Docker.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evalkit.tasks import packages

_OPERATORS = "();<>|&"
_PLAIN = re.compile(r"[A-Za-z0-9_./*?+=,:@%-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*")
_PIP_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[^\]]*\])?\s*(?:[<>=!~;].*)?")
_APT_NAME = re.compile(r"([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)?(?:[=/].*)?")
_PIP_OPTIONS_WITH_VALUE = frozenset(
    {
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--timeout",
        "--retries",
    }
)
_APT_OPTIONS_WITH_VALUE = frozenset({"-o", "-t", "--option", "--target-release"})
_CLEANING = re.compile(r"/(?:var/lib/apt/lists|var/cache/apt|root/\.cache|tmp)(?:/[A-Za-z0-9_.*/-]*)?")

ReadRequirements = Callable[[str], Sequence[str] | None]
"""Gives the lines of a requirements file by its path inside, or None where it is not known."""


@dataclass(slots=True)
class RunNeeds:
    """What the RUN lines read so far ask for."""

    packages: list[str] = field(default_factory=list[str])
    programs: list[str] = field(default_factory=list[str])
    modules: list[str] = field(default_factory=list[str])
    setup: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])


def read_run(
    line: str | Sequence[str], workdir: str, needs: RunNeeds, read_requirements: ReadRequirements
) -> str | None:
    """Add what a RUN line asks for to `needs`; returns the command that only Docker can honour, or None."""
    commands = [list(line)] if not isinstance(line, str) else _commands(line)
    if commands is None:
        return str(line)
    for command in commands:
        found = _Command(command, workdir)
        if not found.honour(needs, read_requirements):
            return shlex.join(command) if not isinstance(line, str) else " ".join(command)
    return None


def _commands(line: str) -> list[list[str]] | None:
    """A shell line as simple commands; None where it is more than commands joined by `&&` and `;`."""
    if re.search(r"[`${}\\]", line):
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    commands: list[list[str]] = [[]]
    for token in tokens:
        if token in ("&&", ";"):
            commands.append([])
        elif not token.strip(_OPERATORS) and token:
            return None
        else:
            commands[-1].append(token)
    return [command for command in commands if command]


class _Command:
    """One simple command of a RUN line."""

    def __init__(self, words: Sequence[str], workdir: str) -> None:
        rest = list(words)
        while rest and _ASSIGNMENT.fullmatch(rest[0]):
            rest.pop(0)
        if rest and rest[0] == "sudo":
            rest.pop(0)
        self.words = rest
        self.workdir = workdir

    def honour(self, needs: RunNeeds, read_requirements: ReadRequirements) -> bool:
        """Take the command up into `needs`; False where that is not possible."""
        match self.words:
            case ["apt-get" | "apt", *rest]:
                return self._apt(rest, needs)
            case ["pip" | "pip3", *rest] | ["python" | "python3", "-m", "pip", *rest]:
                return self._pip(rest, needs, read_requirements)
            case ["mkdir", *rest]:
                return self._mkdir(rest, needs)
            case ["chmod", *rest]:
                return self._setup(rest, needs)
            case _:
                return self._changes_nothing()

    def _changes_nothing(self) -> bool:
        """Whether the command only sets options of the shell or clears caches."""
        match self.words:
            case [] | ["true" | ":"]:
                return True
            case ["set", *options]:
                return all(option.startswith("-") or option == "pipefail" for option in options)
            case ["export", *names]:
                return all(name.startswith("DEBIAN_FRONTEND=") for name in names)
            case ["rm", *paths]:
                return all(path.startswith("-") or _CLEANING.fullmatch(path) for path in paths)
            case _:
                return False

    def _apt(self, words: list[str], needs: RunNeeds) -> bool:
        names = list(_arguments(words, _APT_OPTIONS_WITH_VALUE))
        if not names or names[0] in ("update", "clean", "autoclean", "autoremove", "upgrade", "dist-upgrade"):
            return True
        if names[0] != "install":
            return False
        for name in names[1:]:
            match = _APT_NAME.fullmatch(name)
            if match is None:
                return False
            package = match[1]
            needs.packages.append(f"apt:{package}")
            needs.programs.extend(packages.apt_programs(package))
            needs.modules.extend(packages.apt_modules(package))
        return True

    def _pip(self, words: list[str], needs: RunNeeds, read_requirements: ReadRequirements) -> bool:
        if "install" not in words:
            return words[:1] in (["cache"], ["config"], ["--version"])
        names: list[str] = []
        rest = iter([word for word in words if word != "install"])
        for word in rest:
            if word in ("-r", "--requirement"):
                lines = read_requirements(next(rest, ""))
                if lines is None:
                    return False
                names.extend(lines)
            elif word in _PIP_OPTIONS_WITH_VALUE:
                next(rest, None)
            elif word in ("-e", "--editable", "-c", "--constraint"):
                return False
            elif not word.startswith("-"):
                names.append(word)
        return all(self._pip_package(name, needs) for name in names)

    def _pip_package(self, name: str, needs: RunNeeds) -> bool:
        match = _PIP_NAME.fullmatch(name.strip())
        if match is None or name.endswith((".whl", ".tar.gz", ".zip")):
            return False
        package = match[1]
        needs.packages.append(f"pip:{package}")
        needs.programs.extend(packages.pip_programs(package))
        needs.modules.extend(packages.pip_modules(package))
        return True

    def _mkdir(self, words: list[str], needs: RunNeeds) -> bool:
        if not self._setup(words, needs):
            return False
        folders = _arguments(words, frozenset({"-m", "--mode"}))
        needs.folders.extend(name if name.startswith("/") else f"{self.workdir}/{name}" for name in folders)
        return True

    def _setup(self, words: list[str], needs: RunNeeds) -> bool:
        """Keep the command to be run inside; its words may hold globs but nothing else that a shell reads."""
        if not all(_PLAIN.fullmatch(word) for word in words):
            return False
        needs.setup.append(f"cd {shlex.quote(self.workdir)} && {' '.join(self.words)}")
        return True


def _arguments(words: Sequence[str], with_value: frozenset[str]) -> Iterator[str]:
    """The words that are no options and no options' values."""
    rest = iter(words)
    for word in rest:
        if word in with_value:
            next(rest, None)
        elif not word.startswith("-"):
            yield word
