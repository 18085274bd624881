"""Where does a fault meet an agent's tools, and how does it look around there?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalkit.engine.observation import observe
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import ExecResult, Sandbox

PATIENCE_S = 30.0
"""How long a command of the fault's own may take."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an agent's tools work, and how they report."""

    sandbox: Sandbox
    settings: ToolSettings
    user: str | None = None
    """Who commands run as; None: the sandbox's own."""


@dataclass(slots=True)
class Aside:
    """Commands of a fault's own, between the agent's calls. They hear what the agent's next call would have heard."""

    shell_lost: bool = False
    """Whether the shell was lost since the agent's latest call."""
    _late: str = ""

    async def run(self, site: Site, line: str, *, user: str | None) -> ExecResult:
        """Run a shell line that is no part of the record."""
        done = await site.sandbox.exec(line, cwd="/", user=user, timeout_s=PATIENCE_S)
        self._late += done.late
        self.shell_lost |= done.shell_lost
        return done

    def told(self, result: ExecResult) -> ExecResult:
        """The agent's call with what was heard since the one before."""
        late, lost = self._late, self.shell_lost
        self._late, self.shell_lost = "", False
        if not late and not lost:
            return result
        return replace(result, late=late + result.late, shell_lost=lost or result.shell_lost)


def is_seen(result: ExecResult, settings: ToolSettings) -> bool:
    """Whether the model sees that a call has failed, or what it says on stderr."""
    nothing = replace(result.stderr, data=b"", total=0, truncated=False)
    return observe(result, settings) != observe(replace(result, exit_code=0, stderr=nothing), settings)
