"""Fixtures: real sandboxes, each in a scratch folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.local.removal import remove_tree
from evalkit.trajectory.artifacts import ArtifactStore

Opener = Callable[..., Awaitable[LocalSandbox]]


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A base folder for sandboxes that an unprivileged user may enter, which pytest's own folders are not."""
    base = Path(tempfile.mkdtemp(prefix="evalkit-test-", dir="/var/tmp"))
    monkeypatch.setenv("EVALKIT_SCRATCH", str(base))
    yield base
    remove_tree(base)


@pytest.fixture
async def open_local(local_support: None, scratch: Path) -> AsyncIterator[Opener]:
    """Start local sandboxes; all are stopped at the end."""
    opened: list[LocalSandbox] = []

    async def start(environment: Environment | None = None, *, trial_id: str = "trial") -> LocalSandbox:
        sandbox = LocalSandbox(environment or Environment(), run_id="run", trial_id=trial_id)
        opened.append(sandbox)
        await sandbox.start()
        return sandbox

    yield start
    for sandbox in opened:
        await sandbox.stop()


@pytest.fixture
async def sandbox(open_local: Opener) -> LocalSandbox:
    """A started sandbox with the default environment: workdir /app, root inside, no network."""
    return await open_local()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")
