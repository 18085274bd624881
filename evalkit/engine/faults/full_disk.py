"""How is a small disk filled, and which calls run out of space on it?

Nothing is taken for granted from one call to the next: before and after each call the disk itself is asked how much
is free, and what has been touched on it.
"""

from __future__ import annotations

import re
import secrets
import shlex
from dataclasses import dataclass

from evalkit.engine.faults.site import Aside, Site, is_seen
from evalkit.engine.observation import observe
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import ExecResult

DISK_BYTES = 8 * 1024 * 1024
"""Of the small disk that is filled."""
FILLER = "cache.tmp"
"""The file that fills it, or one of a name that nobody can guess where that is taken. Who removes it frees the disk."""
_NO_SPACE = re.compile(
    r"no space left|\benospc\b|\berr(?:no|code):? 28\b|quota exceeded"
    r"|(?:disk|device|drive|volume|file ?system) (?:is )?full\b"
    r"|(?:not enough|insufficient|out of) (?:free )?(?:disk |storage )?space",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"\bwrite error\b|\bi/o error\b|input/output error", re.IGNORECASE)
"""As some shells word it."""

# The file is made new, whatever the agent has put there: no link is followed, and nothing of its own written to.
_FILL = r"""
cd FOLDER || exit 2
set -C; umask 022
file=FILLER
if [ -e "$file" ] || [ -L "$file" ]; then file=OTHER; fi
exec 9>"$file" || exit 2
printf '%s\n' "$file"
head -c BYTES /dev/zero >&9 2>/dev/null
said=$?
exec 9>&-
exit $said
"""
# What is free, the filler, and when anything was last changed. A write that finds no room changes times, too.
_LOOK = r"""
cd FOLDER || exit 2
df -P -k . 2>/dev/null | { read -r titles; read -r line; printf '%s\n' "$line"; }
ls -lidn -- FILLER 2>/dev/null || echo
find . -xdev -exec stat -c '%i %s %z %n' {} + 2>/dev/null || { ls -lidnc .; ls -liAncR .; } 2>/dev/null
"""


@dataclass(frozen=True, slots=True)
class _File:
    """Which file it is, and how long."""

    inode: str
    size: str


@dataclass(frozen=True, slots=True)
class DiskState:
    """A disk at one moment, as programs inside tell it."""

    free: int | None = None
    """KiB; None where nothing inside can tell."""
    filler: _File | None = None
    """The file of the filler's name; None where there is none."""
    touched: bytes | None = None
    """Differs from that of another moment where something was written or tried to be; None where it is not known."""


class FullDisk:
    """Fills a small disk once, to the last byte, with one file of the agent's own user."""

    def __init__(self, path: str) -> None:
        self.aside = Aside()
        self._folder = path
        self._name = FILLER
        self._user: str | None = None
        self._filler: _File | None = None
        """The file as it was written; None where the disk is not, or no longer, filled by it."""
        self._begun = self._began_now = False
        self._before = DiskState()
        self._why = ""

    async def before(self, site: Site, *, due: bool) -> None:
        """Fill the disk where this is the call."""
        self._began_now = False
        if due and not self._begun:
            self._began_now = self._begun = await self._fill(site)
        elif self._filler is not None:
            held = self._holds(self._before)
            self._before = await self._look(site)
            if held and self.aside.shell_lost:
                await self._refill(site)

    async def shows(self, site: Site, result: ExecResult) -> bool:
        """Whether the call ran out of space."""
        if self._filler is None:
            return False
        before, held = self._before, self._holds(self._before)
        after = self._before = await self._look(site)
        shown = ran_out(before, after, result, site.settings, held=held)
        if held and result.shell_lost:
            await self._refill(site)
        return shown

    async def after(self, site: Site, *, due: bool) -> bool:
        """Whether it was filled before this call."""
        del site, due
        return self._began_now

    async def end(self, site: Site) -> None:
        """Give the space back. A filler that the agent has made a file of its own stays."""
        if self._filler is None:
            return
        filler, self._filler = self._filler, None
        if (await self._look(site)).filler == filler:
            await self._remove(site)

    @property
    def failed(self) -> str:
        """Why it was not seen."""
        return "the disk was full, and no call ran out of space" if self._begun else self._why

    async def _fill(self, site: Site) -> bool:
        """Whether the disk is full. Leaves nothing behind where it is not."""
        self._user = site.user
        other = f"cache-{secrets.token_hex(4)}.tmp"
        line = _FILL.replace("BYTES", str(DISK_BYTES + 1)).replace("FILLER", FILLER).replace("OTHER", other)
        done = await self._run(site, line)
        name = done.stdout.text.strip()
        if name not in {FILLER, other}:
            said = done.stderr.text.strip()[-200:]
            self._why = (
                f"the disk was not filled: no file could be made in {self._folder}"
                + f" ({said})" * bool(said)
            )
            return False
        self._name = name
        self._before = await self._look(site)
        full = done.exit_code == 1 if self._before.free is None else self._before.free == 0
        if full and self._before.filler is not None:
            self._filler = self._before.filler
            return True
        free = "" if self._before.free is None else f", {self._before.free} KiB stayed free"
        self._why = f"the disk was not filled: writing ended with exit code {done.exit_code}{free}"
        await self._remove(site)
        return False

    async def _refill(self, site: Site) -> None:
        """A disk that was lost together with the shell is new and empty; the fault outlives that."""
        if self._before.free is not None and self._before.filler is None:
            await self._fill(site)

    def _holds(self, state: DiskState) -> bool:
        """Whether what was filled has not been freed, or nothing inside can tell."""
        return state.filler == self._filler or state == DiskState()

    async def _look(self, site: Site) -> DiskState:
        done = await self._run(site, _LOOK.replace("FILLER", shlex.quote(self._name)))
        if done.exit_code != 0 or done.timed_out:
            return DiskState()
        free, filler, touched = (*done.stdout.data.split(b"\n", 2), b"", b"")[:3]
        return DiskState(
            _free(free.decode("utf-8", "replace")), _file(filler.decode("utf-8", "replace")), touched or None
        )

    async def _remove(self, site: Site) -> None:
        await self._run(site, f"cd FOLDER && rm -f -- {shlex.quote(self._name)}")

    async def _run(self, site: Site, line: str) -> ExecResult:
        return await self.aside.run(site, line.replace("FOLDER", shlex.quote(self._folder)), user=self._user)


def ran_out(
    before: DiskState, after: DiskState, result: ExecResult, settings: ToolSettings, *, held: bool
) -> bool:
    """Whether a call ran out of space, and the model can see that it failed.

    It did where it failed and left the disk full, having written there or tried to; however it words that. And it did
    where it says so, and the disk was full before or after, or still `held` by what fills it. What it prints may be
    an old complaint: that alone counts only where it failed, or has touched the disk.
    """
    failed = result.exit_code != 0
    touched = None not in {before.touched, after.touched} and before.touched != after.touched
    if failed and touched and after.free == 0 and is_seen(result, settings):
        return True
    out, err = result.stdout.text, result.stderr.text
    said = _NO_SPACE.search(err) or ((failed or touched) and (_NO_SPACE.search(out) or _VAGUE.search(err)))
    if not said or not (held or before.free == 0 or after.free == 0):
        return False
    return is_seen(result, settings) or _NO_SPACE.search(observe(result, settings)) is not None


def _free(line: str) -> int | None:
    """Of a line of `df -P`: its fourth column."""
    columns = line.split()
    return int(columns[3]) if len(columns) > 5 and columns[3].isdecimal() else None


def _file(line: str) -> _File | None:
    """Of a line of `ls -lidn`: inode, mode, links, owner, group, size."""
    columns = line.split()
    return _File(columns[0], columns[5]) if len(columns) > 6 else None
