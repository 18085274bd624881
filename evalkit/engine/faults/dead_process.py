"""How is a process killed by its name, and is it dead still?"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from evalkit.engine.faults.processes import Process, listing_line, read_listing
from evalkit.engine.faults.site import Aside, Site, is_seen
from evalkit.sandbox.protocol import ExecResult

NAMED = 5
"""Processes that are named where the one that was looked for did not run."""


class DeadProcess:
    """Kills the processes that go by a name. Not the harness's own, see `processes`."""

    def __init__(self, name: str) -> None:
        self.aside = Aside()
        self._name = name
        self._begun = self._dead = False
        self._running: tuple[str, ...] = ()

    async def before(self, site: Site, *, due: bool) -> None:
        """See whether somebody has started it again."""
        del due
        if self._dead:
            self._dead = not await self._found(site)

    async def shows(self, site: Site, result: ExecResult) -> bool:
        """Whether the call failed while the process was dead."""
        return self._dead and result.exit_code != 0 and is_seen(result, site.settings)

    async def after(self, site: Site, *, due: bool) -> bool:
        """Kill it where this was the call."""
        if not due or not await self._kill(site, await self._found(site)):
            return False
        self._begun = self._dead = True
        return True

    async def end(self, site: Site) -> None:
        """Nothing: whoever needs the process starts it again."""
        del site

    @property
    def failed(self) -> str:
        """Why it was not seen."""
        if self._begun:
            return f"{self._name} was killed, and no call failed while it was dead"
        others = ", ".join(self._running[:NAMED])
        more = len(self._running) - NAMED
        found = f"but {others}" + f" and {more} more" * (more > 0) if others else "nor any other"
        return f"no process called {self._name} was running, {found}"

    async def _found(self, site: Site) -> tuple[Process, ...]:
        token = secrets.token_hex(16)
        done = await self.aside.run(site, listing_line(token), user=site.user)
        running = read_listing(done.stdout.data, token)
        self._running = tuple(dict.fromkeys(process.title for process in running))
        return tuple(process for process in running if process.is_called(self._name))

    async def _kill(self, site: Site, processes: Sequence[Process]) -> bool:
        """Whether there was one that could be killed; by root where the agent's own user may not."""
        left = [str(process.pid) for process in processes]
        for user in dict.fromkeys((site.user, "root")):
            if not left:
                break
            line = f'for one in {" ".join(left)}; do kill -9 "$one" 2>/dev/null || echo "$one"; done'
            done = await self.aside.run(site, line, user=user)
            left = done.stdout.text.split()
        return len(left) < len(processes)
