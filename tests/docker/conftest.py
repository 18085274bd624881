"""Fixtures: real containers of the machine's engine."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment
from evalkit.sandbox.docker.engine import Engine, connect
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.trajectory.artifacts import ArtifactStore

Opener = Callable[..., Awaitable[DockerSandbox]]
DOCKERFILE = Path(__file__).parent / "image/Dockerfile"


class Proxy:
    """Stands between the harness and the engine, so that the engine can be lost without being stopped."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "engine.sock"
        self.target = (os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock").removeprefix("unix://")
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(self.path))
        self.listening.listen(64)
        self.ends: list[socket.socket] = []
        self.threads: list[threading.Thread] = []
        self.silent = False
        self.cue: bytes | None = None
        """Fall silent when this comes by on its way to the engine, which does not get it any more."""
        self.cued = threading.Event()
        self.held = threading.Event()
        self.held.set()
        self.run(self.accept)

    def run(self, work, *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.target)
            self.ends += [near, far]
            self.run(self.pump, near, far, True)
            self.run(self.pump, far, near, False)

    def pump(self, source: socket.socket, sink: socket.socket, to_engine: bool) -> None:
        try:
            while data := source.recv(65536):
                self.held.wait()
                if to_engine and self.cue is not None and self.cue in data:
                    self.silent = True
                    self.cued.set()
                if not self.silent:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one side has hung up, and the other waits until it hears that
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """The engine is gone: every connection breaks, and no new one is made."""
        self.held.set()
        self.path.unlink(missing_ok=True)
        for end in [self.listening, *self.ends]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(5)
        for end in [self.listening, *self.ends]:
            end.close()


@pytest.fixture(scope="session")
def engine(docker_support: None) -> Engine:
    return connect()


@pytest.fixture
def ours(engine: Engine) -> Callable[[str], list[str]]:
    """The ids of all containers of a run, running or not."""

    def of(run: str) -> list[str]:
        return [one.id for one in engine.owned(f"evalkit.run={run}")]

    return of


@pytest.fixture
async def open_docker(docker_support: None) -> AsyncIterator[Opener]:
    """Start docker sandboxes; all are stopped at the end. Without an image of its own: debian with ps and python3."""
    opened: list[DockerSandbox] = []

    async def start(
        environment: Environment | None = None, *, run_id: str = "run", trial_id: str = "trial"
    ) -> DockerSandbox:
        asked = environment or Environment()
        if asked.image is None and asked.dockerfile is None:
            asked = replace(asked, dockerfile=DOCKERFILE)
        sandbox = DockerSandbox(asked, run_id=run_id, trial_id=trial_id)
        opened.append(sandbox)
        await sandbox.start()
        return sandbox

    yield start
    for sandbox in opened:
        await sandbox.stop()


@pytest.fixture
def open_local(open_docker: Opener) -> Opener:
    """The name that the shared tests of sandboxes use."""
    return open_docker


@pytest.fixture
async def sandbox(open_docker: Opener) -> DockerSandbox:
    """A started sandbox with the default environment: workdir /app, root inside, no network."""
    return await open_docker()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def proxy(docker_support: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as folder:
        made = Proxy(Path(folder))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{made.path}")
        yield made
        with contextlib.suppress(SandboxError):
            connect().close()
        made.close()
        gc.collect()
