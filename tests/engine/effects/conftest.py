"""Fixtures: a sandbox that is nothing but what a test says is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from evalkit.engine.effects.attribution import Attribution
from evalkit.engine.effects.measuring import EffectsMeter
from evalkit.engine.effects.scope import Scope
from evalkit.engine.recorder import Recorder, now
from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox.protocol import Entry, Listening, Running
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act


class FakeSandbox:
    """Files are a table of contents by path; None is a folder, `-> x` a link."""

    def __init__(self, **files: bytes | None) -> None:
        self.files: dict[str, bytes | None] = {"/app": None}
        self.times: dict[str, int] = {}
        self.alive: tuple[Running, ...] = ()
        self.ears: tuple[Listening, ...] = ()
        self.broken: str | None = None
        self.lists = True
        self.refuses: set[str] = set()
        self.reads: list[str] = []
        self.exports = 0

    def write(self, path: str, content: bytes | str | None = b"") -> None:
        """Write a file, or make a folder."""
        parent = path.rpartition("/")[0]
        while parent and parent not in self.files:
            self.files[parent] = None
            parent = parent.rpartition("/")[0]
        self.files[path] = content.encode() if isinstance(content, str) else content
        self.times[path] = self.times.get(path, 0) + 1

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with everything in it."""
        for one in [one for one in self.files if one == path or one.startswith(f"{path}/")]:
            del self.files[one]

    async def snapshot(self) -> dict[str, Entry]:
        self._check("snapshot")
        return {path: self._entry(content) for path, content in self.files.items()}

    def _entry(self, content: bytes | None) -> Entry:
        if content is None:
            return Entry("dir", 0o755, 0, 0, None)
        if content.startswith(b"-> "):
            return Entry("link", 0o777, 0, 0, None, content[3:].decode())
        return Entry("file", 0o644, 0, len(content), hashlib.sha256(content).hexdigest())

    async def listing(self) -> Mapping[str, str] | None:
        self._check("listing")
        if not self.lists:
            return None
        return {path: f"{content!r} {self.times.get(path)}" for path, content in self.files.items()}

    async def workspace_digest(self) -> str | None:
        return str(await self.listing())

    async def processes(self) -> tuple[Running, ...]:
        self._check("processes")
        return self.alive

    async def listeners(self) -> tuple[Listening, ...]:
        return self.ears

    async def export(self, paths: Sequence[str], store: Any) -> tuple[Any, ...]:
        import io

        from evalkit.sandbox.protocol import Deliverable

        self.exports += 1
        below = [
            one for one in self.files if one in paths or one.startswith(tuple(f"{path}/" for path in paths))
        ]
        if self.refuses & set(below):
            raise DeliverableRefused("refused")
        taken = []
        for path in below:
            content = self.files[path]
            if content is None:
                continue
            digest, size = store.put(io.BytesIO(content))
            taken.append(Deliverable(path, "file", 0o644, size, digest))
            self.reads.append(path)
        return tuple(taken)

    async def read_file(self, path: str, *, max_bytes: int = 0) -> bytes:
        content = self.files.get(path)
        if content is None:
            raise FileNotFoundError(path)
        self.reads.append(path)
        return content

    def _check(self, what: str) -> None:
        if self.broken == what:
            raise SandboxError(f"no {what} today")


class Bench:
    """One trial: a sandbox, a recorder, and a meter over them."""

    def __init__(self, scope: Scope, *, only_workdir: bool = False) -> None:
        self.sandbox = FakeSandbox()
        self.recorder = Recorder(lambda step: None)
        self.attribution = Attribution(self.sandbox, only_workdir=only_workdir)  # type: ignore[arg-type]
        self.meter = EffectsMeter(
            self.sandbox,  # type: ignore[arg-type]
            scope,
            self.recorder,
            "/app",
            self.attribution,
        )

    async def act(
        self, *writes: tuple[str, bytes | str | None], gone: Sequence[str] = (), tool: str = "bash"
    ) -> int:
        """A call that writes and removes files; the number of its step."""
        for path, content in writes:
            self.sandbox.write(path, content)
        for path in gone:
            self.sandbox.remove(path)
        number = self.recorder.next
        self.recorder.add(Act(step=number, tool=tool, started_at=now(), duration_s=0.1))
        (await self.attribution.look()).steps.append(number)
        return number

    async def finish(self) -> dict[str, Effect]:
        """End the measuring; effects by resource."""
        await self.meter.note_running()
        await self.meter.end()
        return {one.resource: one for one in self.meter.effects("t")}


@pytest.fixture
def bench() -> Bench:
    """In which /app is allowed and /app/kept forbidden."""
    return Bench(
        Scope(allowed=("/app",), forbidden=("/app/kept", "git:refs/heads/release"), noise=("/var/log/**",))
    )
