"""Who keeps a container alive whatever happens inside, and can kill everything in it?

Process 1 of every container is the image's own sh in a loop of builtins. It reads lines from the harness and
answers each; it ignores what it can ignore, reaps what is orphaned, and starts nothing once the agent lives.
When the harness dies its stdin ends, and so it ends, and the container with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.wire import Wire
from evalkit.sandbox.shell import ChannelClosed

ANSWER_S = 5.0
READY_S = 20.0
FOLDERS_S = 20.0
TOLD_BYTES = 4 * 1024 * 1024
"""Of an answer with many lines."""
CONVERGE_S = 2.0
"""How long killing one call's processes may take before all are killed."""

SCRIPT = r"""
trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
trap 'w_child=1; jobs >/dev/null 2>&1' CHLD
umask 022
w_root=
w_look() {
  w_text=
  { while IFS= read -r w_line; do w_text="$w_text$w_line "; done <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- ${w_text##*) }
  [ $# -ge 20 ] || return 1
  w_parent=$2 w_start=${20}
  case $1 in Z|X) return 1;; esac
}
w_newer() {
  [ "$w_start" -gt "$w_from" ] || { [ "$w_start" -eq "$w_from" ] && [ "$1" -ge "$w_first" ]; }
}
w_each() {
  w_found=0
  for w_path in /proc/[0-9]*; do
    w_pid=${w_path#/proc/}
    [ "$w_pid" -ne 1 ] && [ "$w_pid" -ne "$1" ] && w_look "$w_pid" && w_newer "$w_pid" || continue
    case $w_held in *" $w_pid "*) continue;; esac
    w_found=$((w_found + 1))
    kill -"$2" "$w_pid" 2>/dev/null
    [ "$2" = KILL ] || w_held="$w_held$w_pid "
  done
}
w_until_none() {
  w_quiet=0 w_round=0
  while [ "$w_quiet" -lt 2 ]; do
    w_round=$((w_round + 1))
    w_each "$1" "$2"
    if [ "$w_round" -gt "$3" ] || { [ "$2" = STOP ] && [ "$w_round" -gt 1 ] && [ "$w_found" -gt 32 ]; }; then
      w_said=spreads
      return 1
    fi
    if [ "$w_found" -gt 0 ]; then w_quiet=0; else w_quiet=$((w_quiet + 1)); fi
  done
}
w_kill_call() {
  w_from= w_first=
  for w_path in /proc/[0-9]*; do
    w_pid=${w_path#/proc/}
    w_look "$w_pid" && [ "$w_parent" -eq "$1" ] || continue
    if [ -n "$w_from" ] && w_newer "$w_pid"; then continue; fi
    w_from=$w_start w_first=$w_pid
  done
  [ -n "$w_from" ] || { w_said=idle; return; }
  w_held=' '
  w_until_none "$1" STOP 12 || return
  for w_pid in $w_held; do kill -KILL "$w_pid" 2>/dev/null; done
  w_held=' '
  w_until_none "$1" KILL 1000
  return 0
}
w_kill_all() {
  w_round=0
  while :; do
    kill -9 -1 2>/dev/null
    w_found=
    for w_path in /proc/[0-9]*; do
      w_pid=${w_path#/proc/}
      [ "$w_pid" -ne 1 ] && w_look "$w_pid" && w_found=1
    done
    [ -n "$w_found" ] || return
    w_round=$((w_round + 1))
    [ "$w_round" -le 500 ] || { w_said=spreads; return; }
  done
}
w_value() {
  w_got=
  { while read -r w_key w_number w_rest; do
    case $w_key in "$1") w_got=$w_number;; esac
  done <"$2"; } 2>/dev/null
  [ -n "$w_got" ]
}
w_memory_kills() {
  w_group=
  { while IFS= read -r w_line; do
    case $w_line in 0::*) w_group=${w_line#0::};; esac
  done <"$w_root/proc/1/cgroup"; } 2>/dev/null
  w_groups=$w_root/sys/fs/cgroup
  for w_path in memory/memory.oom_control "${w_group#/}/memory.events" memory.events; do
    w_value oom_kill "$w_groups/$w_path" && { w_said=$w_got; return; }
  done
  w_said=unknown
}
w_sockets() {
  for w_path in tcp tcp6 udp udp6 unix; do
    { while IFS= read -r w_line; do
      printf '%s %s %s\n' "$1" "$w_path" "$w_line"
    done <"/proc/net/$w_path"; } 2>/dev/null
  done
}
w_folder() {
  [ -d "$2" ] && return
  mkdir -p -- "$2" 2>/dev/null && { [ "$1" = 0 ] || chown -- "$1" "$2" 2>/dev/null; } || w_said=failed
}
while :; do
  if IFS= read -r w_order; then
    w_said=done
    eval "$w_order"
  elif [ -n "$w_child" ]; then
    w_child=
  else
    exit
  fi
done
"""


class Warden:
    """The harness's end of process 1."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._turn = asyncio.Lock()

    @property
    def gone(self) -> asyncio.Event:
        """Set when process 1 has ended, or its engine cannot be reached any more."""
        return self._wire.closed

    async def ready(self) -> None:
        """Wait until process 1 answers, and has done all that was asked before. Raises SandboxError."""
        try:
            for patience in (0.5, 2.0):  # some shells lose a line that a signal interrupts
                with contextlib.suppress(TimeoutError):
                    await self._ask(":", patience)
                    return
            await self._ask(":", READY_S)
        except (ChannelClosed, TimeoutError) as error:
            raise SandboxError(
                "the container's first process does not answer",
                hint="An image needs a POSIX sh; see that `sh -c true` works in it.",
            ) from error

    async def make_folders(self, quoted: list[str], owner: str) -> bool:
        """Make folders that are not there, for a user. Only before the agent runs. False where mkdir is missing."""
        for start in range(0, len(quoted), 20):
            orders = "; ".join(f"w_folder {owner} {path}" for path in quoted[start : start + 20])
            try:
                if await self._ask(orders, FOLDERS_S) != "done":
                    return False
            except (ChannelClosed, TimeoutError) as error:
                did = "died" if self.gone.is_set() else "stopped answering"
                raise SandboxError(
                    f"the container's first process {did} before its folders were made",
                    hint="Something outside killed it, or the machine is too busy; the trial can be run again.",
                ) from error
        return True

    async def kill_call(self, shell: int) -> bool:
        """Kill the shell's command and everything started since. False where they multiply too fast for that."""
        for _ in range(2):  # some shells lose a line that a signal interrupts
            with contextlib.suppress(TimeoutError, ChannelClosed):
                return await self._ask(f"w_kill_call {shell}", CONVERGE_S / 2) in {"done", "idle"}
        return False

    async def kill_all(self) -> bool:
        """Kill everything but process 1. False where it did not answer that all are dead."""
        for _ in range(3):
            with contextlib.suppress(TimeoutError):
                try:
                    return await self._ask("w_kill_all", ANSWER_S) == "done"
                except ChannelClosed:
                    return True
        return False

    async def memory_kills(self) -> int | None:
        """How many processes the memory limit has killed so far; None where that cannot be found out."""
        with contextlib.suppress(TimeoutError, ChannelClosed):
            said = await self._ask("w_memory_kills", CONVERGE_S)
            return int(said) if said.isdigit() else None
        return None

    async def sockets(self) -> dict[str, str]:
        """The kernel's tables of sockets by name, read inside. Raises SandboxError where they are not told."""
        token, tables, told = secrets.token_hex(8), dict[str, str](), bytearray()
        try:
            said = await self._ask(f"w_sockets {token}", ANSWER_S, told)
        except (ChannelClosed, TimeoutError):
            said = "failed"
        if said != "done":
            raise SandboxError("the container's first process does not tell its sockets")
        for line in told.decode("utf-8", "surrogateescape").split("\n"):
            mark, _, rest = line.partition(" ")
            if mark == token:
                name, _, row = rest.partition(" ")
                tables[name] = f"{tables.get(name, '')}{row}\n"
        return tables

    def close(self) -> None:
        """Hang up, which ends process 1."""
        self._wire.close()

    async def _ask(self, order: str, timeout_s: float, told: bytearray | None = None) -> str:
        """What process 1 says to an order; what it prints before is added to `told`."""
        token = secrets.token_hex(8)
        async with self._turn:
            self._wire.send(f'{order}; echo "{token} $w_said"\n'.encode("utf-8", "surrogateescape"))
            async with asyncio.timeout(timeout_s):
                heard = b""
                while True:
                    _, data = await self._wire.receive()
                    if told is not None and len(told) < TOLD_BYTES:
                        told += data
                    heard = (heard + data)[-4096:]
                    for line in heard.split(b"\n")[:-1]:
                        if line.startswith(token.encode()):
                            return line.decode("ascii", "replace").partition(" ")[2]
