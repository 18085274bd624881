"""How does a kept shell talk to a sandbox made by bubblewrap?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections import deque
from pathlib import Path

from anyio import to_thread

from evalkit.errors import SandboxError
from evalkit.sandbox.framing import Stream
from evalkit.sandbox.local import processes, seccomp
from evalkit.sandbox.local.bubblewrap import STAGE, Account, Bubblewrap, Layout, options
from evalkit.sandbox.shell import ChannelClosed
from evalkit.sandbox.shielded import finish

_START_S = 20.0
_END_S = 10.0


class LaunchFailed(Exception):
    """bubblewrap ended before its sandbox began; the text is what it said."""


class _Output(asyncio.SubprocessProtocol):
    """Keeps what arrives until it is asked for. The kept shell asks at once, so little is ever kept."""

    def __init__(self) -> None:
        self.chunks: deque[tuple[Stream, bytes]] = deque()
        self.arrived = asyncio.Event()
        self.closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.chunks.append(("stdout" if fd == 1 else "stderr", data))
        self.arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  -- the name is asyncio's
        self.closed.set()
        self.arrived.set()


class BubblewrapChannel:
    """One running sandbox: bubblewrap, its process 1, and the shell below it."""

    def __init__(
        self, output: _Output, transport: asyncio.SubprocessTransport, stage: Path, who: Account
    ) -> None:
        self._output = output
        self._transport = transport
        self._stage = stage
        self._who = who
        self._monitor = processes.process(transport.get_pid())
        """bubblewrap itself, which waits outside for process 1."""
        self._init: int | None = None
        self._handle: int | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def launch(
        cls, bwrap: Bubblewrap, layout: Layout, who: Account, script: str, *, mark: str
    ) -> BubblewrapChannel:
        """Start a sandbox, whose processes can be told by `mark` on their command line. Raises LaunchFailed.

        It is spawned by the event loop's own thread, because a sandbox dies with the thread that started it.
        """
        info, info_end = os.pipe()
        spawned: list[BubblewrapChannel] = []

        async def spawn() -> None:
            try:
                channel = await cls._spawn(bwrap, layout, who, script, mark, info_end=info_end)
            except BaseException:
                os.close(info)
                raise
            spawned.append(channel)
            await channel._settle(info)  # noqa: SLF001  it is this class's own

        try:
            # To its end: asyncio waits for ever on a subprocess whose start was cancelled, and before process 1 is
            # known there is nothing whose end would end all others.
            await finish(spawn())
        except BaseException:
            for channel in spawned:
                await finish(channel.close())
            raise
        return spawned[0]

    @classmethod
    async def _spawn(
        cls, bwrap: Bubblewrap, layout: Layout, who: Account, script: str, mark: str, *, info_end: int
    ) -> BubblewrapChannel:
        filter_end = _readable(seccomp.program())
        args = options(layout, seccomp=filter_end, info=info_end)
        # As a file, because every user of the machine could read the environment on the command line.
        args_end = _readable(b"".join(arg.encode("utf-8", "surrogateescape") + b"\0" for arg in args))
        ends = (info_end, filter_end, args_end)
        try:
            transport, output = await asyncio.get_running_loop().subprocess_exec(
                _Output, str(bwrap.path), "--args", str(args_end), "--", "/bin/sh", "-c", script, mark,
                pass_fds=ends, env={}, cwd="/", umask=0o022, start_new_session=True,
                user=who.uid if who.switch else None, group=who.gid if who.switch else None,
                extra_groups=[] if who.switch else None,
            )  # fmt: skip
        except OSError as error:
            raise LaunchFailed(f"{bwrap.path}: {error.strerror}") from error
        finally:
            for end in ends:
                os.close(end)
        return cls(output, transport, layout.stage, who)

    @property
    def init(self) -> int:
        """The host's number of the sandbox's process 1."""
        if self._init is None:
            raise SandboxError("the sandbox has not started")
        return self._init

    async def send(self, data: bytes) -> None:
        """See `Channel.send`."""
        stdin = self._transport.get_pipe_transport(0)
        if (
            self._output.closed.is_set()
            or not isinstance(stdin, asyncio.WriteTransport)
            or stdin.is_closing()
        ):
            raise ChannelClosed
        stdin.write(data)

    async def receive(self) -> tuple[Stream, bytes]:
        """See `Channel.receive`."""
        while not self._output.chunks:
            if self._output.closed.is_set():
                raise ChannelClosed
            self._output.arrived.clear()
            await self._output.arrived.wait()
        return self._output.chunks.popleft()

    async def stage(self, data: bytes) -> str:
        """See `Channel.stage`."""
        name = secrets.token_hex(8)
        await to_thread.run_sync(self._write_staged, self._stage / name, data)
        return f"{STAGE}/{name}"

    async def unstage(self, path: str) -> None:
        """See `Channel.unstage`."""
        (self._stage / Path(path).name).unlink(missing_ok=True)

    async def kill_call(self) -> None:
        """See `Channel.kill_call`. Without a command that runs, nothing is killed."""
        if not await to_thread.run_sync(self._kill_call):
            await self.close()

    async def close(self) -> None:
        """See `Channel.close`. Returns when the kernel has ended every process inside."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    def processes(self) -> list[processes.Process]:
        """Everything alive inside, with the shell, without process 1."""
        return [] if self._init is None else processes.descendants(self._init)

    def others(self) -> list[processes.Process]:
        """Everything alive inside but process 1 and the shell, which is the oldest child of process 1."""
        shell = next(iter(self._shells()), None) if self._init is not None else None
        return [one for one in self.processes() if one != shell]

    async def _settle(self, info: int) -> None:
        said = b""
        with contextlib.suppress(TimeoutError):
            said = await asyncio.wait_for(_read_to_end(info), _START_S)
        try:
            pid = int(json.loads(said)["child-pid"])
        except (ValueError, KeyError):
            raise LaunchFailed(await self._complaint()) from None
        with contextlib.suppress(OSError):
            self._handle = os.pidfd_open(pid)
        if pid not in processes.children(self._transport.get_pid()):
            raise LaunchFailed(await self._complaint())
        self._init = pid

    async def _complaint(self) -> str:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._output.closed.wait(), _START_S)
        said = b"".join(data for stream, data in self._output.chunks if stream == "stderr")
        return said.decode("utf-8", "replace").strip() or "bubblewrap ended without a word"

    def _kill_call(self) -> bool:
        shell = next(iter(self._shells()), None)
        if shell is None:
            return False
        running = [one for one in map(processes.process, processes.children(shell.pid)) if one is not None]
        if not running:
            return True
        return processes.kill_since(self.init, min(running), spare=shell.pid)

    def _shells(self) -> list[processes.Process]:
        """Direct children of process 1, oldest first: the kept shell, then what it has outlived."""
        found = [processes.process(pid) for pid in processes.children(self.init)]
        return sorted(one for one in found if one is not None)

    def _write_staged(self, path: Path, data: bytes) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
        with os.fdopen(handle, "wb") as out:
            if self._who.switch:
                os.fchown(handle, self._who.uid, self._who.gid)
            out.write(data)

    async def _close(self) -> None:
        """Kill process 1 first: the kernel then ends all others before bubblewrap itself can notice and
        exit.
        """
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
            self._handle = None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._output.closed.wait(), _END_S)
        elif self._monitor is not None:
            await to_thread.run_sync(processes.kill_family, self._monitor)
        with contextlib.suppress(ProcessLookupError):
            self._transport.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._output.closed.wait(), _END_S)
        self._transport.close()


def _readable(data: bytes) -> int:
    handle = os.memfd_create("evalkit")
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


async def _read_to_end(handle: int) -> bytes:
    """Read a pipe to its end, and close it."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(handle, "rb", buffering=0)
    )
    try:
        return await reader.read()
    finally:
        transport.close()
