"""What is a sandbox made of on a Linux machine without a container engine?

bubblewrap makes the namespaces; the trial's files are plain folders in a scratch folder, so that they are
read from outside and outlive the shell. All users inside are one user of the host: `user` decides the name,
the home and the number that programs see, not what they may do. `Limits.cpus` is not enforced. A program of
the agent's can write to the kept shell's output through /proc and so forge the result of a call; nothing
that is graded depends on that.

`Environment.network` shares the host's network as it is, with services on localhost and abstract unix
sockets: nothing filters it. Without it there is only a loopback interface of the sandbox's own.

Not bounded: memory in socket buffers, in System V shared memory, and in deleted files that are mapped but no longer
open; what the kernel grants the host's user as a whole (inotify watches, pipe buffers, locks on shared files), which
all sandboxes of that user share; processor time.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from anyio import to_thread

from evalkit.errors import SandboxError
from evalkit.sandbox import snapshot
from evalkit.sandbox.in_memory import entries_in_memory
from evalkit.sandbox.local import etc, furnishing, looking
from evalkit.sandbox.local.bubblewrap import Bubblewrap, Layout, account, find
from evalkit.sandbox.local.channel import BubblewrapChannel, LaunchFailed
from evalkit.sandbox.local.clearing import clear_folder
from evalkit.sandbox.local.delivery import deliver, take_out
from evalkit.sandbox.local.orphans import mark
from evalkit.sandbox.local.processes import Process
from evalkit.sandbox.local.scratch import SCRATCH_HINT, Scratch, base_folder, create, make_base
from evalkit.sandbox.local.support import explain
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.local.watchdog import Watchdog
from evalkit.sandbox.protocol import Deliverable, Entry, Environment, ExecResult, Listening, Running
from evalkit.sandbox.shell import Call, CallNotStarted, KeptShell, checked_env, command_line
from evalkit.sandbox.shielded import finish
from evalkit.sandbox.walk import OPEN_FOLDER
from evalkit.trajectory.artifacts import ArtifactStore

_NOBODY = 65534
_UNWATCHED = "the sandbox can no longer be watched"
_MADE_INSIDE = "Files that were made inside may be the cause, such as /etc/ld.so.preload."

T = TypeVar("T")


class LocalSandbox:
    """One trial's sandbox; see `evalkit.sandbox.protocol.Sandbox`."""

    def __init__(self, environment: Environment, *, run_id: str, trial_id: str) -> None:
        self._environment = furnishing.imitated(environment)
        self._run, self._trial = run_id, trial_id
        self._account = account()
        self._bwrap: Bubblewrap | None = None
        self._scratch: Scratch | None = None
        self._tree_or_none: Tree | None = None
        self._channel: BubblewrapChannel | None = None
        self._shell: KeptShell | None = None
        self._watch: asyncio.Task[None] | None = None
        self._watchdog: Watchdog | None = None
        self._ending: asyncio.Future[None] | None = None
        self._turn = asyncio.Lock()
        self._files = threading.Lock()
        """Held while files are read or written from outside, as folders may be opened up meanwhile."""
        self._looking = looking.Looking()
        self._last_disks: dict[str, Entry] = {}
        self._notes: list[str] = []
        self._sealed: tuple[str, ...] = ()
        """The only folders that can be written to from inside; none: all can."""
        self._stopped = self._unwatched = False

    @cached_property
    def _user(self) -> etc.User:
        return furnishing.user_named(self._environment.user)

    @cached_property
    def _variables(self) -> Mapping[str, str]:
        return furnishing.variables(self._environment, self._user)

    @property
    def runtime(self) -> str:
        """Such as `bubblewrap 0.8.0`; without a version before the start."""
        return "bubblewrap" if self._bwrap is None else f"bubblewrap {self._bwrap.version}"

    @property
    def image_digest(self) -> str | None:
        """None: the programs are the machine's own."""
        return None

    @property
    def build_s(self) -> float | None:
        """None: there is no image."""
        return None

    @property
    def reduced(self) -> tuple[str, ...]:
        """None: processors are not bounded here, and what is bounded is bounded as asked."""
        return ()

    async def start(self) -> None:
        """Make the files and start the kept shell. Where it fails nothing is left behind."""
        if self._stopped or self._scratch is not None:
            raise SandboxError("a sandbox is started once")
        try:
            await _outside(self._prepare)
            async with self._turn:
                await self._open()
            watchdog = self._watchdog = Watchdog(
                self._tree.root,
                furnishing.bounds(self._environment.limits),
                self._alive,
                self._over_limit,
                self._files,
            )
            self._watch = asyncio.create_task(watchdog.run(), name="evalkit-watchdog")
            self._watch.add_done_callback(self._watch_ended)
        except BaseException:
            await self.stop()
            raise

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        stdin: bytes | None = None,
        timeout_s: float | None = None,
        on_cut: Callable[[ExecResult], None] | None = None,
    ) -> ExecResult:
        """Run a command in the kept shell; see the protocol. Commands take turns.

        A relative `cwd` starts at the working directory. Exit code 126 with a message where `cwd` does not
        exist. `shell_lost` with an exit code means that the shell had been lost before, and this ran in a
        new one.
        """
        call = Call(
            line=command_line(command),
            cwd=self._inside(cwd or self._environment.workdir),
            env={**self._identity(user), **checked_env(env or {})},
            stdin=stdin,
            timeout_s=timeout_s,
            output_bytes=self._environment.limits.output_bytes,
            on_cut=on_cut,
        )
        async with self._turn:
            return await self._run_call(call)

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a file from outside; links on the way are followed as the sandbox would."""
        mode = 0o755 if executable else 0o644
        self._looking.forget()
        await self._on_files(lambda: self._tree.write(self._inside(path), data, mode=mode))

    async def read_file(self, path: str, *, max_bytes: int = 100 * 1024 * 1024) -> bytes:
        """Read a file from outside; links on the way are followed as the sandbox would."""
        return await self._on_files(lambda: self._tree.read(self._inside(path), max_bytes))

    async def clear_folder(self, path: str) -> None:
        """Make `path` an empty folder, from outside."""
        self._looking.forget()
        await self._on_files(lambda: clear_folder(self._tree, self._inside(path)))

    async def workspace_digest(self) -> str | None:
        """Digest of a stat listing of the working directory, read from outside.

        None above 20,000 files, and where the working directory's path leads nowhere or to the machine's files.
        """
        workdir = self._environment.workdir
        return await self._on_files(lambda: self._looking.digest(self._tree, workdir))

    async def snapshot(self) -> dict[str, Entry]:
        """Everything in the writable folders, and in the small disks, once halted as they were before."""
        return await self._on_files(self._snapshot)

    async def processes(self) -> tuple[Running, ...]:
        """Everything alive inside but process 1 and the kept shell, as the host sees it."""
        return await _outside(lambda: looking.processes(self._channel))

    async def listeners(self) -> tuple[Listening, ...]:
        """Every socket that waits, as the kernel lists them for the sandbox's network."""
        shared = self._environment.network
        return await _outside(lambda: looking.listeners(self._channel, shared=shared))

    async def listing(self) -> Mapping[str, str] | None:
        """Everything in the writable folders, from outside; cheaper right after `workspace_digest`."""
        return await self._on_files(lambda: self._looking.listing(self._tree))

    async def export(self, paths: Sequence[str], store: ArtifactStore) -> tuple[Deliverable, ...]:
        """Take files and folders out as data; see the protocol."""
        return await self._on_files(lambda: take_out(self._tree, paths, store))

    async def place(self, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
        """Put exported data into this sandbox."""
        self._looking.forget()
        await self._on_files(lambda: deliver(self._tree, deliverables, store))

    async def halt(self) -> None:
        """Kill everything inside and keep the files; from then on they are sealed as the environment says."""
        await finish(self._halt())
        self._sealed = self._environment.sealed

    async def stop(self) -> None:
        """Kill everything and remove every trace."""
        self._stopped = True
        await finish(self._stop())

    @property
    def _tree(self) -> Tree:
        if self._tree_or_none is None:
            raise SandboxError("the sandbox is stopped" if self._stopped else "the sandbox was not started")
        return self._tree_or_none

    def _prepare(self) -> None:
        base = base_folder()
        make_base(base, self._account)
        self._bwrap = find(base, self._account)
        tops, _ = (
            furnishing.private_tops(self._environment),
            self._variables,
        )  # refused before anything is made
        self._scratch = create(base, self._account, run=self._run, trial=self._trial)
        self._tree_or_none = Tree(self._scratch.tree, tops, self._account)
        try:
            furnishing.furnish(self._tree, self._environment, self._user)
        except OSError as error:
            raise SandboxError(
                f"the sandbox's files cannot be made: {error.strerror}", where=str(base), hint=SCRATCH_HINT
            ) from error

    async def _open(self) -> KeptShell:
        """Start a shell on the files as they are."""
        tree = self._tree
        if self._bwrap is None or self._scratch is None:
            raise SandboxError("the sandbox was not started")
        layout = Layout(
            mounts=furnishing.mounts(tree, self._sealed),
            stage=self._scratch.stage,
            readonly=furnishing.readonly(tree, self._environment, self._sealed),
            hidden=furnishing.hidden(self._environment),
            disks=furnishing.disks(tree, self._environment),
            env=self._variables,
            hostname=furnishing.HOSTNAME,
            uid=self._user.uid,
            network=self._environment.network,
        )
        script = furnishing.first_script(self._environment.limits)
        try:
            self._channel = await BubblewrapChannel.launch(
                self._bwrap, layout, self._account, script, mark=mark(self._scratch.folder)
            )
        except LaunchFailed as error:
            problem, hint = explain(str(error))
            raise SandboxError(problem, hint=hint) from error
        self._shell = KeptShell(self._channel)
        await self._shell.start()
        return self._shell

    async def _run_call(self, call: Call) -> ExecResult:
        lost_before = False
        for _ in range(3):
            if self._stopped or self._unwatched:
                raise SandboxError("the sandbox is stopped" if self._stopped else _UNWATCHED)
            self._looking.forget()
            shell = self._shell or await self._open_again()
            frozen = await self._watchdog.frozen() if self._watchdog else None
            try:
                result = await shell.run(replace(call, frozen=frozen))
            except CallNotStarted:
                lost_before = True
                await self._drop_shell(shell)
                continue
            if shell.lost:
                await self._drop_shell(shell)
            notes, self._notes = self._notes, []
            return replace(
                result,
                shell_lost=result.shell_lost or lost_before,
                late="".join(f"{note}\n" for note in notes) + result.late,
            )
        raise SandboxError(
            "the shell inside the sandbox keeps dying before it reaches a command", hint=_MADE_INSIDE
        )

    async def _open_again(self) -> KeptShell:
        """By now the files are the agent's, and so is what keeps a shell from starting on them."""
        try:
            return await self._open()
        except SandboxError as error:
            raise SandboxError(f"no new shell starts: {error.message}", hint=_MADE_INSIDE) from error

    async def _drop_shell(self, shell: KeptShell) -> None:
        await shell.close()
        if self._shell is shell:
            self._shell = self._channel = None

    async def _halt(self) -> None:
        """A running command is ended first, so that its turn ends; then nobody else has one."""
        if self._shell is not None:
            self._last_disks = await self._on_files(self._disks)
            await self._shell.close()
        async with self._turn:
            if self._shell is not None:
                await self._drop_shell(self._shell)

    async def _stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        await self._halt()
        scratch, self._scratch, self._tree_or_none = self._scratch, None, None
        if scratch is not None:
            await _outside(scratch.remove)

    def _watch_ended(self, watch: asyncio.Task[None]) -> None:
        """A sandbox that nobody watches does not go on."""
        if not watch.cancelled() and watch.exception() is not None:
            self._unwatched = True
            self._notes.append(f"evalkit: stopped: {_UNWATCHED}")
            if self._channel is not None:
                self._ending = asyncio.ensure_future(self._channel.close())

    async def _over_limit(self, note: str) -> None:
        shell = self._shell
        if shell is None or shell.lost:
            return
        if shell.busy and len(self._alive()) > 1:
            await shell.interrupt(note)
        else:
            self._notes.append(note)
            await shell.close()

    def _alive(self) -> list[Process]:
        return [] if self._channel is None else self._channel.processes()

    def _inside(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._environment.workdir}/{path}"

    def _identity(self, user: str | None) -> dict[str, str]:
        if user is None:
            return {}
        wanted = furnishing.user_named(user)
        if wanted.uid not in {0, self._user.uid} or (wanted.uid and wanted.name != self._user.name):
            raise SandboxError(
                f"there is no user {user} in this sandbox",
                hint=f"The local sandbox knows root and {self._user.name}.",
            )
        return furnishing.identity(wanted)

    def _snapshot(self) -> dict[str, Entry]:
        root = os.open(self._tree.root, OPEN_FOLDER)
        try:
            entries = snapshot.snapshot(root, self._owner_inside)
        finally:
            os.close(root)
        return {**entries, **(self._last_disks if self._channel is None else self._disks())}

    def _disks(self) -> dict[str, Entry]:
        channel = self._channel if self._environment.disks else None
        return {} if channel is None else entries_in_memory(channel.init, self._owner_inside)

    def _owner_inside(self, uid: int) -> int:
        return self._user.uid if uid == self._account.uid else _NOBODY

    async def _on_files(self, work: Callable[[], T]) -> T:
        def alone() -> T:
            with self._files:
                return work()

        return await _outside(alone)


async def _outside(work: Callable[[], T]) -> T:
    """Work on files in a thread. A cancelled caller waits for it, so that nothing is written after `stop`."""
    return await finish(to_thread.run_sync(work))
