"""What is a sandbox made of on a machine with a container engine?

One container per trial, whose process 1 is the harness's (see `warden`), and one kept shell per user that commands run
as. The root user inside is the container's real root, with few capabilities and no way to new ones: `sudo` and other
set-user-id programs do not work, `exec(user="root")` does. A program of the agent's with the same user can write to
the kept shell's output through /proc and so forge the result of a call; nothing that is graded depends on that.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evalkit.errors import SandboxError
from evalkit.sandbox.docker import container, delivery, files, listing, looking
from evalkit.sandbox.docker.channel import outside
from evalkit.sandbox.docker.complaint import EngineSilent
from evalkit.sandbox.docker.ending import kill_everything
from evalkit.sandbox.docker.engine import Engine, Image, connect
from evalkit.sandbox.docker.launch import ImageGone, Plan, found_image, launch
from evalkit.sandbox.docker.memory import MemoryLimit
from evalkit.sandbox.docker.placement import clean_path
from evalkit.sandbox.docker.shells import Shells
from evalkit.sandbox.docker.transfer import Owner
from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.docker.watchdog import Watchdog, unusable
from evalkit.sandbox.docker.wish import Wish
from evalkit.sandbox.docker.workspace import Workspace
from evalkit.sandbox.protocol import (
    DEFAULT_WORKDIR,
    Deliverable,
    Entry,
    Environment,
    ExecResult,
    Listening,
    Running,
)
from evalkit.sandbox.shell import Call, CallNotStarted, KeptShell, checked_env, command_line
from evalkit.sandbox.shielded import finish
from evalkit.trajectory.artifacts import ArtifactStore

_MADE_INSIDE = "Files that were made inside may be the cause, such as /etc/ld.so.preload."
_OWN_S = 5.0


class DockerSandbox:
    """One trial's sandbox; see `evalkit.sandbox.protocol.Sandbox`."""

    def __init__(
        self, environment: Environment, *, run_id: str, trial_id: str, runtime: str | None = None
    ) -> None:
        checked_env(environment.env)
        self._workdir = clean_path(environment.workdir or DEFAULT_WORKDIR)
        self._environment = environment
        self._run, self._trial = run_id, trial_id
        self._asked_runtime = runtime
        self._name = container.new_name()
        self._engine_or_none: Engine | None = None
        self._image: Image | None = None
        self._build_s: float | None = None
        self._launched_at = float("inf")
        self._wish = Wish(environment.build_timeout_s)
        self._memory: MemoryLimit | None = None
        self._warden: Warden | None = None
        self._shells = Shells()
        self._watch: asyncio.Task[None] | None = None
        self._watchdog: Watchdog | None = None
        self._workspace = Workspace(self._run_own)
        self._turn = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._notes: list[str] = []
        self._owner = Owner()
        self._lost_before = False
        self._problem: SandboxError | None = None
        self._stopped = False

    @property
    def runtime(self) -> str:
        """Such as `docker 20.10.24`, with the runtime's name where one was asked for; no version before the start."""
        asked = f" ({self._asked_runtime})" if self._asked_runtime else ""
        return "docker" if self._engine_or_none is None else f"{self._engine_or_none.version.named}{asked}"

    @property
    def image_digest(self) -> str | None:
        """The image's id, a digest of its configuration and layers; None before the start."""
        return None if self._image is None else self._image.id

    @property
    def build_s(self) -> float | None:
        """Seconds that finding, fetching or building the image took so far; None before that began."""
        return self._build_s

    @property
    def reduced(self) -> tuple[str, ...]:
        """What the task asked for and the engine's machine does not have, in words; empty before the start.

        Processors and memory are what there is then. Storage is not checked before it is used up.
        """
        engine = self._engine_or_none
        return () if engine is None else container.reduced(self._environment, engine.version)

    async def start(self) -> None:
        """Find or build the image, make the container and its files, start the kept shell.

        Where it fails nothing is left behind, but for the image.
        """
        if self._stopped or self._engine_or_none is not None:
            raise SandboxError("a sandbox is started once")
        try:
            await self._start()
        except BaseException as error:
            if isinstance(error, EngineSilent):
                self._problem = error
            await self.stop()
            if isinstance(error, SandboxError) and self._problem is None and self._engine_or_none is not None:
                await outside(self._engine_or_none.ping)  # or its silence would look like the container's
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
        """Run a command in the kept shell of its user; see the protocol. Commands take turns.

        A relative `cwd` starts at the working directory. Exit code 126 with a message where `cwd` does not exist.
        `shell_lost` with an exit code means that the shell had been lost before, and this ran in a new one.
        """
        call = Call(
            line=command_line(command),
            cwd=self._inside(cwd or self._workdir),
            env=checked_env(env or {}),
            stdin=stdin,
            timeout_s=timeout_s,
            output_bytes=self._environment.limits.output_bytes,
            on_cut=on_cut,
        )
        self._workspace.forget()
        async with self._turn:
            result = await self._run_call(call, user or self._user)
            if self._memory is not None:
                result = await self._memory.judged(result)
        notes, self._notes = self._notes, []
        lost, self._lost_before = self._lost_before, False
        return replace(result, shell_lost=result.shell_lost or lost, late="".join(notes) + result.late)

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a file from outside; links on the way are followed as the sandbox would."""
        engine, mode = self._engine, 0o755 if executable else 0o644
        self._workspace.forget()
        await outside(
            lambda: files.write(engine, self._name, self._inside(path), data, mode=mode, owner=self._owner)
        )

    async def read_file(self, path: str, *, max_bytes: int = 100 * 1024 * 1024) -> bytes:
        """Read a file from outside; links on the way are followed as the sandbox would.

        What the kernel makes up (/proc, /sys, /dev) is not there from outside: read it with `exec`.
        """
        engine = self._engine
        return await outside(lambda: files.read(engine, self._name, self._inside(path), max_bytes))

    async def clear_folder(self, path: str) -> None:
        """Make `path` an empty folder, whatever stood there; the engine does it, from outside."""
        engine = self._engine
        self._workspace.forget()
        await outside(lambda: delivery.clear_folder(engine, self._name, self._inside(path), self._owner))

    async def workspace_digest(self) -> str | None:
        """Digest of a stat listing of the working directory, taken inside.

        None above 20,000 files, and where the image has neither GNU find nor stat.
        """
        return await self._workspace.digest(self._workdir)

    async def snapshot(self) -> dict[str, Entry]:
        """Every path inside, read from outside; see `listing` for what cannot be seen."""
        engine, image = self._engine, self._image
        assert image is not None
        entries = await outside(lambda: listing.snapshot(engine, self._name, image))
        for path in self._shells.staged:
            entries.pop(path, None)
        return entries

    async def processes(self) -> tuple[Running, ...]:
        """Everything alive inside but process 1 and the kept shells; see `looking`."""
        engine = self._engine
        if self._shells and not self._turn.locked():
            with contextlib.suppress(SandboxError):  # what a shell tidies up after a call lives on no longer
                await self._run_own(Call(":", cwd="/", timeout_s=_OWN_S))
        return await outside(lambda: looking.processes(engine, self._name))

    async def listeners(self) -> tuple[Listening, ...]:
        """Every socket that waits; see `looking`."""
        engine, warden = self._engine, self._warden
        assert warden is not None
        found = await outside(lambda: looking.tables(engine, self._name))
        try:
            return looking.listeners(found, await warden.sockets() if found is None else {})
        except SandboxError:
            await self._check_container()  # or its engine's silence would look like the container's
            raise

    async def listing(self) -> Mapping[str, str] | None:
        """The working directory, taken inside; costs next to nothing right after `workspace_digest`."""
        return await self._workspace.listing(self._workdir)

    async def export(self, paths: Sequence[str], store: ArtifactStore) -> tuple[Deliverable, ...]:
        """Take files and folders out as data; see the protocol."""
        engine = self._engine
        return await outside(lambda: delivery.take_out(engine, self._name, paths, store))

    async def place(self, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
        """Put exported data into this sandbox."""
        engine = self._engine
        self._workspace.forget()
        await outside(lambda: delivery.put_in(engine, self._name, deliverables, store, self._owner))

    async def halt(self) -> None:
        """Kill everything inside and keep the files. Raises SandboxError where something lives on."""
        await finish(self._halt())

    async def stop(self) -> None:
        """Kill everything and remove every trace. An image that is being made is given up."""
        self._stopped = True
        self._wish.give_up()
        await finish(self._stop())

    @property
    def _engine(self) -> Engine:
        if self._problem is not None:
            raise self._problem
        if self._stopped or self._engine_or_none is None:
            raise SandboxError("the sandbox is stopped" if self._stopped else "the sandbox was not started")
        return self._engine_or_none

    @property
    def _user(self) -> str:
        return self._environment.user or (self._image.user if self._image else "") or "0"

    async def _start(self) -> None:
        engine = self._engine_or_none = await outside(connect)
        try:
            await self._launch_image(engine)
        except ImageGone:  # somebody tidied up in between
            await self._launch_image(engine)
        async with self._turn:
            await self._open(self._user)
        self._owner = self._shells.owner(self._user)
        if self._warden is not None:
            self._memory = MemoryLimit(self._warden, container.memory_mb(self._environment, engine.version))
            await self._memory.look()
        storage = self._environment.limits.storage_mb or container.DEFAULT_STORAGE_MB
        watchdog = self._watchdog = Watchdog(
            engine, self._name, storage, over=self._over_limit, lost=self._lost, idle=self._looked
        )
        self._watch = asyncio.create_task(watchdog.run(), name="evalkit-watchdog")
        self._watch.add_done_callback(self._watch_ended)

    async def _launch_image(self, engine: Engine) -> None:
        began = time.perf_counter()
        try:
            self._image = await found_image(engine, self._environment, self._wish)
        finally:
            self._build_s = time.perf_counter() - began
        if not self._environment.workdir and self._image.workdir not in {"", "/"}:
            self._workdir = clean_path(self._image.workdir)
        async with self._starting:
            await finish(self._launch(engine, self._image))

    async def _launch(self, engine: Engine, image: Image) -> None:
        """Make and run the container. Goes on when it is cancelled, so that nothing gets lost."""
        if self._stopped:
            raise SandboxError("the sandbox is stopped")
        plan = Plan(
            name=self._name, environment=self._environment, image=image,
            labels=container.labels(self._run, self._trial), runtime=self._asked_runtime,
            workdir=self._workdir, user=self._user,
        )  # fmt: skip
        self._launched_at = time.monotonic()
        self._warden = await launch(engine, plan)

    async def _open(self, user: str) -> KeptShell:
        engine, warden = self._engine, self._warden
        if warden is None:
            raise SandboxError("the sandbox was not started")
        return await finish(self._shells.open(engine, self._name, warden, user))

    async def _run_call(self, call: Call, user: str) -> ExecResult:
        lost_before = False
        for _ in range(3):
            self._engine  # noqa: B018  -- raises where there is none any more
            shell = self._shells.of(user) or await self._open_again(user)
            frozen = await self._watchdog.frozen() if self._watchdog else None
            try:
                result = await shell.run(replace(call, frozen=frozen))
            except CallNotStarted:
                lost_before = True
                await self._shells.drop()
                await self._check_container()
                continue
            if shell.lost:
                await self._shells.drop()
                await self._check_container()
            return replace(result, shell_lost=result.shell_lost or lost_before)
        raise SandboxError(
            "the shell inside the sandbox keeps dying before it reaches a command", hint=_MADE_INSIDE
        )

    async def _run_own(self, call: Call) -> ExecResult:
        """A call of the harness's own, as the user inside; what it hears of others is the next call's to tell."""
        async with self._turn:
            result = await self._run_call(call, self._user)
        if result.late:
            self._notes.append(result.late)
        self._lost_before = self._lost_before or result.shell_lost
        return result

    async def _open_again(self, user: str) -> KeptShell:
        """By now the files are the agent's, and so is what keeps a shell from starting on them."""
        try:
            return await self._open(user)
        except SandboxError:
            await self._check_container()
            raise

    async def _check_container(self) -> None:
        """A shell that was lost may be the agent's doing; a container that is gone is not."""
        if self._stopped or self._warden is None:
            return
        engine = self._engine
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._warden.gone.wait(), 0.05)
        if engine.fell_silent(self._launched_at):  # which hung up everything
            raise EngineSilent
        state = (await outside(lambda: engine.look(self._name, size=False))).state
        if self._warden.gone.is_set() or state != "running":
            raise unusable(self._name, state if state == "paused" else "gone")

    async def _halt(self) -> None:
        """A running command is ended first, so that its turn ends; then nobody else has one."""
        await self._shells.close()
        async with self._turn:
            await self._shells.drop()
            if self._warden is None or self._stopped:
                return
            await kill_everything(self._engine, self._name, self._warden)

    async def _stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        engine = self._engine_or_none
        async with self._starting:
            if engine is not None:
                with contextlib.suppress(SandboxError):  # an engine that is gone took its containers along
                    if self._problem is not None:
                        await outside(engine.ping)
                    await outside(lambda: engine.remove(self._name))
        if self._warden is not None:
            self._warden.close()
            await asyncio.sleep(0)
        await self._shells.drop()

    async def _over_limit(self, note: str) -> None:
        if (busy := self._shells.busy) is not None:
            await busy.interrupt(note)
        elif self._shells:
            self._notes.append(f"{note}\n")
            await self._shells.close()

    def _lost(self, problem: SandboxError) -> None:
        """The engine does not answer any more: calls that wait for it end."""
        self._problem = problem
        if self._warden is not None:
            self._warden.close()
        self._shells.hang_up()

    async def _looked(self) -> None:
        if self._memory is not None and self._shells.busy is None:
            await self._memory.look()

    def _watch_ended(self, watch: asyncio.Task[None]) -> None:
        """A sandbox that nobody watches does not go on."""
        if not watch.cancelled() and (error := watch.exception()) is not None:
            self._lost(SandboxError(f"the sandbox can no longer be watched: {error!r}"))

    def _inside(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._workdir}/{path}"
