"""Fixtures: real containers of the machine's engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.docker.engine import Engine, connect
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.trajectory.artifacts import ArtifactStore

Opener = Callable[..., Awaitable[DockerSandbox]]
DOCKERFILE = Path(__file__).parent / "image/Dockerfile"


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
