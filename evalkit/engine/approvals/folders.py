"""In which folders may a command of a shell line work?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evalkit.engine.approvals.path_glob import resolved
from evalkit.engine.approvals.spellings import Values, spellings
from evalkit.measures.shell_words import Command

_ALWAYS_THERE = frozenset(("/", "/tmp", "/etc", "/usr", "/var", "/dev", "/proc"))  # noqa: S108  no file is made there
_CHAINED = frozenset(("&&", "|", "|&"))
_MOST = 16
"""Folders that are kept in mind, the likeliest."""
_UNKNOWN = "$`*?["


@dataclass(slots=True)
class Folders:
    """Where a line is, command by command. A `cd` may fail, so what follows it may be here or there; but not so in its
    own chain, as in `cd x && make`.
    """

    base: str
    now: tuple[str, ...] = ()
    _chained: tuple[str, ...] | None = None
    _outer: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def __post_init__(self) -> None:
        self.now = self.now or (self.base,)

    def of(self, command: Command) -> tuple[str, ...]:
        """Where this command may work, the likeliest last."""
        if command.after == "(":
            self._outer.append(self.now)
        if command.after not in _CHAINED:
            self._chained = None
        return self._chained or self.now

    def leave(self, command: Command, values: Values) -> None:
        """Go where the command leads, and out of a subshell that it ends."""
        if command.program in {"cd", "pushd"}:
            self._move(command, values)
        if command.ended_by == ")":
            outer = self._outer.pop() if self._outer else self.now
            self.now, self._chained = _each((*self.now, self.base) if outer is self.now else outer), None

    def _move(self, command: Command, values: Values) -> None:
        words = [word for word in command.words[1:] if not word.startswith("-")]
        if not words:
            return
        here = self._chained or self.now
        there = _each(resolved(one, folder) for one in spellings(words[0], values) for folder in here)
        is_known = not any(sign in folder for folder in there for sign in _UNKNOWN)
        is_there = is_known and all(folder in _ALWAYS_THERE for folder in there)
        self.now = there if is_there else _each((*self.now, *there))
        self._chained = there if is_known else None


def _each(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folders))[-_MOST:]
