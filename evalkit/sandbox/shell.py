"""How are many commands run in one shell that is started once and kept?

Starting a program in a sandbox costs more than most commands do. So one POSIX `sh` is started and fed line
by line; every command runs under it as a session of its own, with stdin closed. What differs between
providers (how bytes travel, how processes are found and killed) is behind `Channel`.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evalkit.errors import SandboxError
from evalkit.sandbox.capture import Capture
from evalkit.sandbox.framing import Frame, Stream, new_token
from evalkit.sandbox.protocol import ExecResult
from evalkit.sandbox.shielded import finish

INLINE_COMMAND_BYTES = 100_000
"""Longer commands travel as a file: Linux limits one argument to 128 KiB."""
LATE_BYTES = 64 * 1024
"""Kept of what background processes write between two calls."""
FRAME_GRACE_S = 2.0
"""How long the shell may take to answer once its command was killed."""
HANDSHAKE_S = 20.0
KILLED = 128 + 9

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Output goes out through 3 and 4, so that what the shell itself says ("Killed") reaches no call. Traps rather
# than ignored signals, because commands would inherit what is ignored.
_PROLOGUE = (
    "exec 3>&1 4>&2 2>/dev/null; unset ENV OLDPWD; trap : HUP INT QUIT TERM USR1 USR2 ALRM; "
    "evalkit_session=$(command -v setsid)\n"
)
# Writes fail rather than kill who writes, so that a line that also removes files gets there. Pipes are no files.
_FREEZE = "trap '' XFSZ; ulimit -f 0 || exit 126; "


class ChannelClosed(Exception):
    """The shell at the other end is gone."""


class Channel(Protocol):
    """A running `sh`, and what only its provider can do for it."""

    async def send(self, data: bytes) -> None:
        """Write to the shell's stdin. Raises ChannelClosed."""
        ...

    async def receive(self) -> tuple[Stream, bytes]:
        """The next bytes of either stream. Raises ChannelClosed after the last ones."""
        ...

    async def stage(self, data: bytes) -> str:
        """Put bytes where the shell can read them; returns the absolute path inside."""
        ...

    async def unstage(self, path: str) -> None:
        """Remove what `stage` put there."""
        ...

    async def kill_call(self) -> None:
        """Kill the shell's running command and everything started since it, sparing what is older."""
        ...

    async def close(self) -> None:
        """Kill everything inside. Does nothing the second time."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One command, ready to run."""

    line: str
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: bytes | None = None
    timeout_s: float | None = None
    output_bytes: int = 1024 * 1024
    on_cut: Callable[[ExecResult], None] | None = None
    """Gets what a call had printed whose caller is cancelled."""
    frozen: str | None = None
    """Where it is set the call can write no files; the stderr of a call that fails then ends in it."""


class CallNotStarted(Exception):
    """The shell was gone before it reached the command, so nothing has happened."""


class KeptShell:
    """One shell and the calls made through it. Calls are made one at a time."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._frame: Frame | None = None
        self._changed = asyncio.Event()
        self._late = Capture(LATE_BYTES)
        self._pump: asyncio.Task[None] | None = None
        self._notes: list[str] = []
        self._killing = asyncio.Lock()
        self._frozen = False
        self.lost = False

    async def start(self) -> None:
        """Prove that the shell answers. Raises SandboxError where it does not."""
        self._pump = asyncio.create_task(self._receive(), name="evalkit-kept-shell")
        try:
            await self._channel.send(_PROLOGUE.encode())
            result = await self.run(Call(line=":", cwd="/", timeout_s=HANDSHAKE_S))
        except (ChannelClosed, CallNotStarted):
            result = None
        if result is None or result.exit_code != 0:
            await self.close()
            said = "" if result is None else result.stderr.text.strip()
            raise SandboxError(
                "the shell inside the sandbox does not answer" + (f": {said}" if said else ""),
                hint="A sandbox needs a POSIX sh with printf; see `evalkit doctor`.",
            )

    async def run(self, call: Call) -> ExecResult:
        """Run one command to its end, or to its timeout. Raises CallNotStarted where the shell was gone
        before.
        """
        if self.lost:
            raise CallNotStarted
        staged: list[str] = []
        try:
            line = await self._compose(call, staged)
            return await self._run_line(line, call)
        finally:
            for path in staged:
                await self._channel.unstage(path)

    async def interrupt(self, note: str) -> None:
        """Kill the running command, or everything where none runs; its result's stderr ends in `note`.

        A command that can write nothing is not the one that grew, so everything is killed with it.
        """
        self._notes.append(note)
        if self._frame is None or self._frozen:
            await self._channel.close()
        else:
            async with self._killing:
                await self._channel.kill_call()

    @property
    def busy(self) -> bool:
        """Whether a command is running."""
        return self._frame is not None

    async def close(self) -> None:
        """Kill everything inside."""
        self.lost = True
        await self._channel.close()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)

    async def _compose(self, call: Call, staged: list[str]) -> Callable[[str], str]:
        if "\0" in call.cwd:
            raise SandboxError("a working directory cannot hold a zero byte")
        inner = f"sh -c -- {shlex.quote(call.line)}"
        if len(call.line.encode("utf-8", "surrogateescape")) >= INLINE_COMMAND_BYTES:
            staged.append(await self._channel.stage(call.line.encode("utf-8", "surrogateescape")))
            inner = f"sh {shlex.quote(staged[-1])}"
        stdin = "/dev/null"
        if call.stdin is not None:
            staged.append(await self._channel.stage(call.stdin))
            stdin = shlex.quote(staged[-1])
        exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in call.env.items())
        freeze = _FREEZE if call.frozen else ""
        body = f"{freeze}cd {shlex.quote(call.cwd)} || exit 126; unset OLDPWD; {exports}exec $evalkit_session {inner}"
        return lambda token: (
            f"printf '{token}<' >&3; printf '{token}<' >&4; "
            f"( {body} ) <{stdin} >&3 2>&4 3>&- 4>&-; "
            f"printf '{token}>%d;' $? >&3; printf '{token}>;' >&4\n"
        )

    async def _run_line(self, line: Callable[[str], str], call: Call) -> ExecResult:
        frame = Frame(new_token(), call.output_bytes, self._late)
        self._frame, self._frozen = frame, call.frozen is not None
        began = time.monotonic()
        timed_out = False
        try:
            try:
                await self._channel.send(line(frame.token).encode("utf-8", "surrogateescape"))
                timed_out = not await self._ended(frame, call.timeout_s)
            except ChannelClosed:
                self.lost = True
            except asyncio.CancelledError:
                await finish(self._kill(frame))
                if call.on_cut is not None:
                    call.on_cut(self._result(frame, time.monotonic() - began, call.frozen, timed_out=True))
                raise
            if timed_out:
                await finish(self._kill(frame))
            async with self._killing:  # or a kill that is under way would hit the next command
                pass
        finally:
            self._frame = None
        if self.lost and not frame.started:
            raise CallNotStarted
        return self._result(frame, time.monotonic() - began, call.frozen, timed_out=timed_out)

    def _result(self, frame: Frame, duration_s: float, frozen: str | None, *, timed_out: bool) -> ExecResult:
        if not frame.ended:
            for reader in frame.readers.values():
                reader.flush()
        notes, self._notes = self._notes, []
        told = [frozen] if frozen and frame.exit_code != 0 else []
        for note in told + notes:
            frame.stderr.add(f"{note}\n".encode())
        late, self._late = self._late, Capture(LATE_BYTES)
        return ExecResult(
            exit_code=KILLED if timed_out else frame.exit_code,
            stdout=frame.stdout.result(),
            stderr=frame.stderr.result(),
            duration_s=duration_s,
            timed_out=timed_out,
            shell_lost=self.lost,
            over_limit=bool(notes),
            late=late.result().text,
        )

    async def _ended(self, frame: Frame, timeout_s: float | None) -> bool:
        """Wait for the end of the call; False when the time is over. Sets `lost` when the shell goes."""
        try:
            async with asyncio.timeout(timeout_s):
                while not frame.ended and not self.lost:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return frame.ended
        return True

    async def _kill(self, frame: Frame) -> None:
        async with self._killing:
            await self._channel.kill_call()
        if not await self._ended(frame, FRAME_GRACE_S):
            await self.close()

    async def _receive(self) -> None:
        """Drain the shell's output for as long as it lives, so that background services never block on it."""
        try:
            while True:
                stream, data = await self._channel.receive()
                if self._frame is None:
                    self._late.add(data)
                    continue
                self._frame.readers[stream].feed(data)
                if self._frame.ended:
                    self._changed.set()
        except ChannelClosed:
            self.lost = True
            self._changed.set()


def checked_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """The same variables. Raises SandboxError for a name or value that no shell can hold."""
    for name, value in env.items():
        if not _NAME.fullmatch(name):
            raise SandboxError(f"{name!r} is not a name for an environment variable")
        if "\0" in value:
            raise SandboxError(f"the environment variable {name} holds a zero byte")
    return env


def command_line(command: str | Sequence[str]) -> str:
    """One shell line for a line or a program with arguments. Raises SandboxError for what cannot be run."""
    if not isinstance(command, str):
        if not command:
            raise SandboxError("there is no command to run: the sequence is empty")
        command = "exec " + shlex.join(command)
    if "\0" in command:
        raise SandboxError("a command cannot hold a zero byte", hint="Pass the bytes as stdin or as a file.")
    return command
