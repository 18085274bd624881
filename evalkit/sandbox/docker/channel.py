"""How does a kept shell talk to a container?"""

from __future__ import annotations

import asyncio
import contextlib
import io
import posixpath
import re
import secrets
import shlex
from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from evalkit.errors import SandboxError, TaskError, TrialError
from evalkit.sandbox.docker import files
from evalkit.sandbox.docker.complaint import Refused, is_unknown_user
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.transfer import Owner, Upload
from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.docker.wire import Wire
from evalkit.sandbox.framing import Stream
from evalkit.sandbox.shell import ChannelClosed
from evalkit.sandbox.shielded import finish

STAGE = "/dev/shm"  # noqa: S108  -- a path inside the container; the agent's changes never include it
_GREETING_S = 20.0
_END_S = 5.0
# With builtins alone: an image may have no `id`. What is short of memory ends the agent's processes, never process 1.
_GREETING = (
    "echo 1000 2>/dev/null >/proc/$$/oom_score_adj; "
    "printf 'evalkit %d ' $$; while read -r k v r; do case $k in Uid:|Gid:) printf '%d ' \"${v%%[!0-9]*}\";; esac; "
    "done </proc/$$/status; printf ';\\n'\n"
)
_ANSWER = re.compile(rb"evalkit (\d+) (\d+) (\d+) ;\n")

T = TypeVar("T")


class DockerChannel:
    """One shell in a container, for one user."""

    def __init__(self, engine: Engine, container: str, wire: Wire, warden: Warden, staged: set[str]) -> None:
        self._engine, self._container = engine, container
        self._staged = staged
        self._wire, self._warden = wire, warden
        self._pid = 0
        self._closing: asyncio.Task[None] | None = None
        self.owner = Owner()
        """Numbers of the user that the shell runs as."""

    @classmethod
    async def open(
        cls, engine: Engine, container: str, warden: Warden, user: str, staged: set[str]
    ) -> DockerChannel:
        """Start a shell. Raises TaskError for a user that the image does not know, SandboxError for a missing sh.

        The path of every file that is put there for it is added to `staged`: a shell may die before it removes them.
        """
        await warden.ready()  # or what it was told to kill before would be this shell
        try:
            connection = await outside(lambda: engine.open_shell(container, ["sh"], user))
            channel = cls(engine, container, await Wire.on(connection), warden, staged)
            try:
                await channel._greet()
            except BaseException:
                channel._wire.close()
                raise
        except SandboxError as error:
            said = error.said if isinstance(error, Refused) else ""
            if not is_unknown_user(said) and await outside(lambda: _knows(engine, container, user)):
                raise
            raise await outside(lambda: _unknown_user(engine, container, user)) from error
        return channel

    async def send(self, data: bytes) -> None:
        """See `Channel.send`."""
        self._wire.send(data)

    async def receive(self) -> tuple[Stream, bytes]:
        """See `Channel.receive`."""
        return await self._wire.receive()

    async def stage(self, data: bytes) -> str:
        """See `Channel.stage`. Goes elsewhere where the agent has filled the shared memory."""
        name = f".evalkit-{secrets.token_hex(8)}"
        upload = Upload()
        upload.data(name, 0o400, self.owner, data)
        tar = upload.finished().read()
        for folder in ("/",) if self._engine.version.name == "podman" else (STAGE, "/"):
            self._staged.add(posixpath.join(folder, name))
            try:
                await outside(
                    lambda where=folder: self._engine.upload(self._container, where, io.BytesIO(tar))
                )
            except Refused:
                if folder == "/":
                    raise
                await self.unstage(posixpath.join(folder, name))
            else:
                return posixpath.join(folder, name)
        raise AssertionError

    async def unstage(self, path: str) -> None:
        """See `Channel.unstage`. A file that cannot be removed is emptied."""
        quoted = shlex.quote(path)
        with contextlib.suppress(ChannelClosed):
            self._wire.send(f"rm -f {quoted} || : >{quoted}\n".encode())

    async def kill_call(self) -> None:
        """See `Channel.kill_call`. Where processes multiply faster than they can be stopped, all are killed."""
        if not await self._warden.kill_call(self._pid):
            await self.close()

    async def close(self) -> None:
        """See `Channel.close`."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    def hang_up(self) -> None:
        """Let go of a shell whose engine does not answer any more."""
        self._wire.close()

    async def _close(self) -> None:
        await self._warden.kill_all()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wire.closed.wait(), _END_S)
        self._wire.close()

    async def _greet(self) -> None:
        heard = b""
        try:
            self._wire.send(_GREETING.encode())
            async with asyncio.timeout(_GREETING_S):
                while (found := _ANSWER.search(heard)) is None:
                    heard = (heard + (await self._wire.receive())[1])[-4096:]
        except (ChannelClosed, TimeoutError) as error:
            said = heard.decode("utf-8", "replace").strip()
            raise SandboxError(
                "the shell inside the container does not answer" + (f": {said}" if said else ""),
                hint="An image needs a POSIX sh with printf; see that `sh -c true` works in it.",
            ) from error
        self._pid, uid, gid = (int(number) for number in found.groups())
        self.owner = Owner(uid, gid)


def _knows(engine: Engine, container: str, user: str) -> bool:
    """Whether the image has this user; engines do not always say so. True where that cannot be found out."""
    name = user.partition(":")[0]
    if name.isdigit():
        return True
    try:
        passwd = files.read(engine, container, "/etc/passwd", 1024 * 1024)
    except FileNotFoundError:
        return name == "root"
    except (SandboxError, OSError):
        return True
    return any(line.startswith(f"{name}:".encode()) for line in passwd.splitlines())


def _unknown_user(engine: Engine, container: str, user: str) -> TrialError:
    """The task's fault, unless something that ran inside has changed who is known."""
    changed = {path for path, _ in engine.changes(container)}
    if changed & {"/etc/passwd", "/etc/group"}:
        return SandboxError(
            f"there is no user {user} inside any more",
            hint="Something that ran inside has changed /etc/passwd or /etc/group.",
        )
    return TaskError(
        f"there is no user {user} in the image",
        hint="Make it in the task's Dockerfile (RUN useradd), or change `user` in task.toml, under [agent] "
        "or [verifier].",
    )


async def outside(work: Callable[[], T]) -> T:
    """Do what blocks in a thread. A cancelled caller waits for it, so that nothing happens after `stop`."""
    return await finish(to_thread.run_sync(work))
