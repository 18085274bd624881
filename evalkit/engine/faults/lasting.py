"""What does a fault do that is real and lasts: a disk that is full, a process that is dead?

It strikes at a call, and from then on whatever call runs into it shows it. `times` bounds how often a process is
killed, and how many calls may find a disk full before the space is given back.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Protocol

from evalkit.engine.observation import observe
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import Disk, ExecResult, Sandbox
from evalkit.tasks.faults import Fault

DISK_BYTES = 8 * 1024 * 1024
"""Of the small disk that is filled."""
FILLER = "cache.tmp"
"""The file that fills it. Whoever removes it has freed the disk."""
_PATIENCE_S = 30.0
_NO_SPACE = "no space left on device"


@dataclass(frozen=True, slots=True)
class Site:
    """Where an agent's tools work, and how they report."""

    sandbox: Sandbox
    settings: ToolSettings
    user: str | None = None
    """Who commands run as; None: the sandbox's own."""


class Lasting(Protocol):
    """A fault that is real."""

    async def before(self, site: Site, *, due: bool) -> None:
        """Before a call runs; `due`: it is one that is to be struck."""
        ...

    async def after(self, site: Site, *, due: bool) -> bool:
        """After a call has run. Whether the fault has begun, or begun again, with this call."""
        ...

    def shows(self, result: ExecResult, settings: ToolSettings) -> bool:
        """Whether a call that has just run has met it, and the model can see that."""
        ...

    async def end(self, site: Site) -> None:
        """Put right what can be put right; does nothing where nothing is wrong."""
        ...

    @property
    def failed(self) -> str:
        """Why it has not begun, or was not seen."""
        ...


def lasting(fault: Fault) -> Lasting | None:
    """What such a fault does; None for a fault of another kind."""
    if fault.kind == "disk_full":
        return FullDisk(fault.path or "/")
    if fault.kind == "process_killed":
        return DeadProcess(fault.process or "")
    return None


def disks(fault: Fault | None) -> tuple[Disk, ...]:
    """The small disks that a trial's sandbox starts with."""
    if fault is None or fault.path is None:
        return ()
    return (Disk(fault.path, DISK_BYTES),)


class FullDisk:
    """Fills a small disk once, to the last byte, with one file of the agent's own user."""

    def __init__(self, path: str) -> None:
        self._file = f"{path.rstrip('/')}/{FILLER}"
        self._probe = f"{path.rstrip('/')}/.probe"
        self._begun = self._full = self._began_now = False

    async def before(self, site: Site, *, due: bool) -> None:
        """Fill the disk where this is the call."""
        self._began_now = False
        if not due or self._begun:
            return
        file, probe = shlex.quote(self._file), shlex.quote(self._probe)
        line = (
            f"head -c {DISK_BYTES} /dev/zero 2>/dev/null >{file}; "
            f"if printf x 2>/dev/null >{probe}; then full=1; else full=0; fi; rm -f {probe}; exit $full"
        )
        done = await site.sandbox.exec(line, user=site.user, timeout_s=_PATIENCE_S)
        self._begun = self._full = self._began_now = done.exit_code == 0

    async def after(self, site: Site, *, due: bool) -> bool:
        """Whether it was filled before this call."""
        del site, due
        return self._began_now

    def shows(self, result: ExecResult, settings: ToolSettings) -> bool:
        """Whether the call ran out of space."""
        said = f"{result.stdout.text}\n{result.stderr.text}".lower()
        return self._full and _NO_SPACE in said and _is_seen(result, settings)

    async def end(self, site: Site) -> None:
        """Give the space back."""
        if self._full:
            self._full = False
            await site.sandbox.exec(f"rm -f {shlex.quote(self._file)}", user=site.user, timeout_s=_PATIENCE_S)

    @property
    def failed(self) -> str:
        """Why it was not seen."""
        return "the disk was full, and no call ran out of space" if self._begun else "the disk was not filled"


class DeadProcess:
    """Kills the programs of one name. Not the harness's own: neither a shell that has no parent inside, nor those above
    the command that looks for them.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = self._dead = False

    async def before(self, site: Site, *, due: bool) -> None:
        """See whether somebody has started it again."""
        del due
        if self._dead:
            self._dead = not await self._find(site, "-0")

    async def after(self, site: Site, *, due: bool) -> bool:
        """Kill it where this was the call."""
        if not due or not await self._find(site, "-9"):
            return False
        self._begun = self._dead = True
        return True

    def shows(self, result: ExecResult, settings: ToolSettings) -> bool:
        """Whether the call failed while the process was dead."""
        return self._dead and result.exit_code != 0 and _is_seen(result, settings)

    async def end(self, site: Site) -> None:
        """Nothing: whoever needs the process starts it again."""
        del site

    @property
    def failed(self) -> str:
        """Why it was not seen."""
        if self._begun:
            return f"{self._name} was killed, and no call failed while it was dead"
        return f"no process called {self._name} was running"

    async def _find(self, site: Site, signal: str) -> bool:
        """Send a signal to all of them; whether there was one that took it."""
        line = _FIND.replace("NAME", shlex.quote(self._name)).replace("SIGNAL", signal)
        for user in dict.fromkeys((site.user, "root")):
            done = await site.sandbox.exec(line, cwd="/", user=user, timeout_s=_PATIENCE_S)
            if done.exit_code == 0:
                return True
        return False


# The program by its own name, or the script that an interpreter runs by that name; in builtins, as images need not
# have more, but for `tr`.
_FIND = r"""
name=NAME short=$(printf %.15s "$name") own=' ' found=1
above() {
  parent=0
  { while read -r key value rest; do [ "$key" = PPid: ] && parent=$value; done <"/proc/$1/status"; } 2>/dev/null
}
process=$$
while [ "$process" -gt 0 ]; do own="$own$process "; above "$process"; process=$parent; done
named() {
  { read -r comm <"/proc/$1/comm"; } 2>/dev/null || return 1
  [ "$comm" = "$short" ] && return
  set -f; IFS='
'; set -- $(tr '\0\n' '\n ' 2>/dev/null <"/proc/$1/cmdline"); set +f; unset IFS
  [ "${1##*/}" = "$name" ] && return
  case ${1##*/} in *sh|python*|perl*|ruby*|node*|php*) ;; *) return 1;; esac
  shift
  for argument do
    case $argument in -*) ;; *) [ "${argument##*/}" = "$name" ]; return;; esac
  done
  return 1
}
for folder in /proc/[0-9]*; do
  process=${folder#/proc/}
  [ "$process" -gt 1 ] || continue
  case $own in *" $process "*) continue;; esac
  named "$process" || continue
  above "$process"
  [ "$parent" -gt 0 ] && kill SIGNAL "$process" 2>/dev/null && found=0
done
exit $found
"""


def _is_seen(result: ExecResult, settings: ToolSettings) -> bool:
    """Whether the model sees that a call has failed, or what it says on stderr."""
    nothing = replace(result.stderr, data=b"", total=0, truncated=False)
    return observe(result, settings) != observe(replace(result, exit_code=0, stderr=nothing), settings)
