"""What is a sandbox made of on a machine with a container engine?

One container per trial, whose process 1 is the harness's (see `warden`), and one kept shell per user that commands run
as. The root user inside is the container's real root, with few capabilities and no way to new ones: `sudo` and other
set-user-id programs do not work, `exec(user="root")` does. A program of the agent's with the same user can write to
the kept shell's output through /proc and so forge the result of a call; nothing that is graded depends on that.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from evalkit.errors import SandboxError
from evalkit.sandbox.docker import container, delivery, files, listing, workspace
from evalkit.sandbox.docker.channel import DockerChannel, outside
from evalkit.sandbox.docker.engine import Engine, Image, connect
from evalkit.sandbox.docker.image import Abandoned, find_image
from evalkit.sandbox.docker.placement import Placements, clean_path, gather
from evalkit.sandbox.docker.transfer import Owner, Upload
from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.docker.watchdog import Watchdog
from evalkit.sandbox.docker.wire import Wire
from evalkit.sandbox.protocol import DEFAULT_WORKDIR, Deliverable, Entry, Environment, ExecResult
from evalkit.sandbox.shell import Call, CallNotStarted, KeptShell, checked_env, command_line
from evalkit.sandbox.shielded import finish
from evalkit.trajectory.artifacts import ArtifactStore

_GONE_HINT = "Something outside killed it, removed it, or restarted its engine; the trial can be run again."
_DIGEST_S = 10.0


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
        self._warden: Warden | None = None
        self._shells: dict[str, tuple[KeptShell, DockerChannel]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._notes: list[str] = []
        self._staged: set[str] = set()
        self._owner = Owner()
        self._lost_before = False
        self._problem: SandboxError | None = None
        self._stopped = False

    @property
    def runtime(self) -> str:
        """Such as `docker 20.10.24`, with the runtime's name where one was asked for; no version before the start."""
        if self._engine_or_none is None:
            return "docker"
        version = self._engine_or_none.version
        named = f"{version.name} {version.version}"
        return f"{named} ({self._asked_runtime})" if self._asked_runtime else named

    @property
    def image_digest(self) -> str | None:
        """The image's id, a digest of its configuration and layers; None before the start."""
        return None if self._image is None else self._image.id

    @property
    def build_s(self) -> float | None:
        """Seconds that finding, fetching or building the image took so far; None before that began."""
        return self._build_s

    async def start(self) -> None:
        """Find or build the image, make the container and its files, start the kept shell.

        Where it fails nothing is left behind, but for the image.
        """
        if self._stopped or self._engine_or_none is not None:
            raise SandboxError("a sandbox is started once")
        try:
            await self._start()
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
        async with self._turn:
            result = await self._run_call(call, user or self._user)
        notes, self._notes = self._notes, []
        lost, self._lost_before = self._lost_before, False
        return replace(result, shell_lost=result.shell_lost or lost, late="".join(notes) + result.late)

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a file from outside; links on the way are followed as the sandbox would."""
        engine, mode = self._engine, 0o755 if executable else 0o644
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
        await outside(lambda: delivery.clear_folder(engine, self._name, self._inside(path), self._owner))

    async def workspace_digest(self) -> str | None:
        """Digest of a stat listing of the working directory, taken inside.

        None above 20,000 files, and where the image has neither GNU find nor stat.
        """
        call = Call(workspace.LISTING, cwd="/", env={"EVALKIT_WORKDIR": self._workdir}, timeout_s=_DIGEST_S,
                    output_bytes=workspace.MAX_BYTES)  # fmt: skip
        async with self._turn:
            result = await self._run_call(call, self._user)
        if result.late:
            self._notes.append(result.late)
        self._lost_before = self._lost_before or result.shell_lost
        return workspace.digest_of(result)

    async def snapshot(self) -> dict[str, Entry]:
        """Every path inside, read from outside; see `listing` for what cannot be seen."""
        engine, image = self._engine, self._image
        assert image is not None
        entries = await outside(lambda: listing.snapshot(engine, self._name, image))
        for path in self._staged:
            entries.pop(path, None)
        return entries

    async def export(self, paths: Sequence[str], store: ArtifactStore) -> tuple[Deliverable, ...]:
        """Take files and folders out as data; see the protocol."""
        engine = self._engine
        return await outside(lambda: delivery.take_out(engine, self._name, paths, store))

    async def place(self, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
        """Put exported data into this sandbox."""
        engine = self._engine
        await outside(lambda: delivery.put_in(engine, self._name, deliverables, store, self._owner))

    async def halt(self) -> None:
        """Kill everything inside and keep the files. Raises SandboxError where something lives on."""
        await finish(self._halt())

    async def stop(self) -> None:
        """Kill everything and remove every trace."""
        self._stopped = True
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
        began = time.perf_counter()
        try:
            self._image = await self._find_image(engine)
        finally:
            self._build_s = time.perf_counter() - began
        if not self._environment.workdir and self._image.workdir not in {"", "/"}:
            self._workdir = clean_path(self._image.workdir)
        async with self._starting:
            await finish(self._launch(engine, self._image))
        async with self._turn:
            _, channel = await self._open(self._user)
        self._owner = channel.owner
        storage = self._environment.limits.storage_mb or container.DEFAULT_STORAGE_MB
        watchdog = Watchdog(engine, self._name, storage, self._over_limit, self._lost)
        self._watch = asyncio.create_task(watchdog.run(), name="evalkit-watchdog")

    async def _find_image(self, engine: Engine) -> Image:
        """A build or pull is given up with its caller, at its next line; nothing else waits for it."""
        try:
            return await to_thread.run_sync(
                find_image, engine, self._environment, lambda: self._stopped, abandon_on_cancel=True
            )
        except Abandoned:
            raise SandboxError("the sandbox was stopped while its image was made") from None

    async def _launch(self, engine: Engine, image: Image) -> None:
        """Make and run the container with its files. Goes on when it is cancelled, so that nothing gets lost."""
        placements = await outside(lambda: gather(self._environment))
        try:
            whose = container.labels(self._run, self._trial)
            config = container.config(self._environment, image, whose)
            host = container.host_config(self._environment, engine, self._asked_runtime)
            if self._stopped:
                raise SandboxError("the sandbox is stopped")
            await outside(lambda: engine.create(self._name, config, host))
            self._warden = Warden(await Wire.on(await outside(lambda: engine.attach(self._name))))
            await outside(lambda: engine.start(self._name))
            await self._warden.ready()
            await self._furnish(engine, self._warden, placements)
        finally:
            placements.close()

    async def _furnish(self, engine: Engine, warden: Warden, placements: Placements) -> None:
        """Folders of the agent's first: where they were not in the image, they are its user's."""
        mine = [self._workdir, *(clean_path(path) for path in self._environment.private)]
        made = await warden.make_folders([shlex.quote(path) for path in mine], shlex.quote(self._user))
        theirs = [shlex.quote(path) for path in placements.folders if path not in mine]
        made = await warden.make_folders(theirs, "0") and made
        if not made:
            await outside(lambda: _make_folders(engine, self._name, [*placements.folders, *mine]))
        if not placements.empty:
            await outside(lambda: engine.upload(self._name, "/", placements.tar()))

    async def _open(self, user: str) -> tuple[KeptShell, DockerChannel]:
        """Start a shell on the files as they are."""
        return await finish(self._opened(user))

    async def _opened(self, user: str) -> tuple[KeptShell, DockerChannel]:
        engine, warden = self._engine, self._warden
        if warden is None:
            raise SandboxError("the sandbox was not started")
        channel = await DockerChannel.open(engine, self._name, warden, user, self._staged)
        shell = KeptShell(channel)
        await shell.start()
        self._shells[user] = shell, channel
        return shell, channel

    async def _run_call(self, call: Call, user: str) -> ExecResult:
        lost_before = False
        for _ in range(3):
            self._engine  # noqa: B018  -- raises where there is none any more
            shell = self._shells[user][0] if user in self._shells else (await self._open(user))[0]
            try:
                result = await shell.run(call)
            except CallNotStarted:
                lost_before = True
                await self._drop_shells()
                await self._check_container()
                continue
            if shell.lost:
                await self._drop_shells()
                await self._check_container()
            return replace(result, shell_lost=result.shell_lost or lost_before)
        raise SandboxError("the shell inside the sandbox keeps dying before it reaches a command")

    async def _check_container(self) -> None:
        """A shell that was lost may be the agent's doing; a container that is gone is not."""
        if self._stopped or self._warden is None:
            return
        engine = self._engine
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._warden.gone.wait(), 0.05)
        if self._warden.gone.is_set() or not await outside(lambda: engine.running(self._name)):
            await outside(engine.ping)
            raise SandboxError("the sandbox's container is gone", where=self._name, hint=_GONE_HINT)

    async def _drop_shells(self) -> None:
        """Closing one kills everything inside, so all go together."""
        shells, self._shells = self._shells, {}
        for shell, _ in shells.values():
            await shell.close()

    async def _halt(self) -> None:
        """A running command is ended first, so that its turn ends; then nobody else has one."""
        for shell, _ in list(self._shells.values()):
            await shell.close()
        async with self._turn:
            await self._drop_shells()
            if self._warden is None or self._stopped or self._problem is not None:
                return
            engine, warden = self._engine, self._warden
            for _ in range(3):
                await warden.kill_all()
                if await outside(lambda: engine.processes(self._name)) <= 1:
                    return
        raise SandboxError(
            "something inside the container cannot be killed",
            where=self._name,
            hint="Its trial cannot be judged.",
        )

    async def _stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        engine = self._engine_or_none
        async with self._starting:
            if engine is not None:
                with contextlib.suppress(SandboxError):  # an engine that is gone took its containers along
                    await outside(lambda: engine.remove(self._name))
        if self._warden is not None:
            self._warden.close()
            await asyncio.sleep(0)
        await self._drop_shells()

    async def _over_limit(self, note: str) -> None:
        busy = next((shell for shell, _ in self._shells.values() if shell.busy), None)
        if busy is not None:
            await busy.interrupt(note)
        elif self._shells:
            self._notes.append(f"{note}\n")
            for shell, _ in list(self._shells.values()):
                await shell.close()

    def _lost(self, problem: SandboxError) -> None:
        """The engine does not answer any more: calls that wait for it end."""
        self._problem = problem
        if self._warden is not None:
            self._warden.close()
        for _, channel in self._shells.values():
            channel.hang_up()

    def _inside(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._workdir}/{path}"


def _make_folders(engine: Engine, name: str, folders: Sequence[str]) -> None:
    """For images without mkdir: what is missing is uploaded, parents first."""
    tree = delivery.Tree(engine, name)
    upload = Upload()
    done: set[str] = set()
    for folder in folders:
        parts = folder.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            path = "/" + "/".join(parts[:depth])
            if path not in done and path != "/" and tree.is_there(path) is None:
                upload.folder(path, 0o755, Owner())
            done.add(path)
    engine.upload(name, "/", upload.finished())
