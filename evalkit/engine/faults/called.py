"""What is a tool call, as a fault's condition sees it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.trajectory.canonical import canonical_json

_TEXT_OF = {"bash": "command", "python": "code"}


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool by the agent."""

    tool: str
    arguments: Mapping[str, object]

    @property
    def key(self) -> str:
        """The same for calls that ask for the same."""
        return f"{self.tool}\0{self._canonical}"

    @property
    def text(self) -> str:
        """What `matches` is searched in: bash's line, python's code, else the arguments as canonical JSON."""
        own = self.arguments.get(_TEXT_OF.get(self.tool, ""))
        return own if isinstance(own, str) else self._canonical

    @property
    def _canonical(self) -> str:
        try:
            return canonical_json(dict(self.arguments))
        except (ValueError, TypeError):  # what a tool of the user's own was given need not be JSON
            return repr(self.arguments)
