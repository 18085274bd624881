"""What is a command line of git to do, and in which repository?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalkit.measures.shell_script import Ran

_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})


@dataclass(frozen=True, slots=True)
class GitCommand:
    """A verb of git with its words."""

    verb: str
    at: Ran
    """The command from its verb on, in the folder of the repository."""

    @property
    def words(self) -> tuple[str, ...]:
        """After the verb."""
        return self.at.words[1:]

    @property
    def operands(self) -> tuple[str, ...]:
        """After the verb, without options."""
        return self.at.operands

    def has(self, *options: str) -> bool:
        """Whether one of these options is given."""
        return self.at.has(*options)

    def value(self, *options: str) -> str | None:
        """What follows one of these options."""
        return self.at.value(*options)


def git_command(own: Ran) -> GitCommand | None:
    """None for what is no command of git."""
    if own.program != "git":
        return None
    words, cwd = list(own.words[1:]), own.cwd
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _WITH_VALUE and words:
            value = words.pop(0)
            if option == "-C":
                cwd = own.path(value)
    if not words:
        return None
    return GitCommand(words[0], replace(own, words=tuple(words), cwd=cwd))
