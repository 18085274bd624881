"""Every container ends and is removed, however its harness ends."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import anyio
import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.sandbox.docker.support import check_docker, clean_docker

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

HARNESS = """
import asyncio
from evalkit.sandbox import Environment
from evalkit.sandbox.docker.provider import DockerSandbox

async def main():
    sandbox = DockerSandbox(Environment(), run_id="run-killed", trial_id="trial-1")
    await sandbox.start()
    await sandbox.exec("sleep 60 & (setsid sleep 60 &)")
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
DEAD = json.dumps({"pid": 2**22 + 1, "started": "never", "host": socket.gethostname()})


async def none_left(ours: Callable[[str], list[str]], run: str) -> bool:
    for _ in range(100):
        if not ours(run):
            return True
        await anyio.sleep(0.05)
    return False


async def test_stop_removes_the_container_and_may_be_called_twice(open_docker, ours) -> None:
    sandbox = await open_docker(run_id="run-stop")
    assert len(ours("run-stop")) == 1
    await sandbox.exec("sleep 60 &")
    await sandbox.stop()
    assert ours("run-stop") == []
    await sandbox.stop()


async def test_a_sandbox_that_was_stopped_is_not_started(docker_support: None) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run", trial_id="trial")
    await sandbox.stop()
    with pytest.raises(SandboxError, match="started once"):
        await sandbox.start()


async def test_a_stopped_sandbox_says_so(sandbox: DockerSandbox) -> None:
    await sandbox.stop()
    for use in (sandbox.exec("true"), sandbox.read_file("x"), sandbox.snapshot(), sandbox.workspace_digest()):
        with pytest.raises(SandboxError, match="stopped"):
            await use


async def test_stopping_goes_on_when_it_is_cancelled(open_docker, ours) -> None:
    sandbox = await open_docker(run_id="run-cancelled-stop")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await sandbox.stop()
    assert ours("run-cancelled-stop") == []


async def test_stop_ends_a_running_call(open_docker) -> None:
    sandbox = await open_docker()
    call = asyncio.create_task(sandbox.exec("sleep 60"))
    await anyio.sleep(0.2)
    await sandbox.stop()
    assert (await call).shell_lost


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.1, 0.2, 0.25, 0.3])
async def test_a_cancelled_start_leaves_nothing(docker_support: None, ours, delay: float) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-cancelled-start", trial_id="trial")
    starting = asyncio.create_task(sandbox.start())
    await asyncio.sleep(delay)
    starting.cancel()
    [result] = await asyncio.gather(starting, return_exceptions=True)
    if result is None:  # it was faster
        await sandbox.stop()
    assert ours("run-cancelled-start") == []
    await sandbox.stop()


async def test_stop_during_the_start_leaves_nothing(docker_support: None, ours) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-stopped-start", trial_id="trial")
    starting = asyncio.create_task(sandbox.start())
    await asyncio.sleep(0.1)
    await sandbox.stop()
    [result] = await asyncio.gather(starting, return_exceptions=True)
    assert isinstance(result, SandboxError)
    assert ours("run-stopped-start") == []


async def test_many_sandboxes_run_at_once(open_docker) -> None:
    boxes = await asyncio.gather(*(open_docker(trial_id=f"trial-{n}") for n in range(8)))
    results = await asyncio.gather(*(box.exec(f"echo {n} > n; cat n") for n, box in enumerate(boxes)))
    assert [one.stdout.text for one in results] == [f"{n}\n" for n in range(8)]


async def test_a_killed_harness_takes_its_container_along(docker_support: None, ours) -> None:
    with subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert len(ours("run-killed")) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert await none_left(ours, "run-killed")


def test_clean_removes_what_the_dead_left_and_nothing_else(engine: Engine, ours) -> None:
    alive = json.dumps({"pid": 1, "started": None, "host": "elsewhere"})
    made = {
        "evalkit-test-dead": {"evalkit.run": "run-clean", "evalkit.trial": "trial-9", "evalkit.owner": DEAD},
        "evalkit-test-alive": {"evalkit.run": "run-clean", "evalkit.owner": alive},
        "evalkit-test-forged": {"evalkit.run": "run-clean", "evalkit.owner": "not json"},
        "evalkit-test-foreign": {"evalkit.owner": DEAD},
    }
    try:
        for name, labels in made.items():
            engine.create(name, {"image": "debian:bookworm-slim", "command": ["true"], "labels": labels}, {})
        removed = [line for line in clean_docker() if "run-clean" in line]
        assert len(removed) == 1
        assert "trial-9" in removed[0]
        assert len(ours("run-clean")) == 2
        assert engine.running("evalkit-test-foreign") is False
        assert (
            len([one for one in engine.owned("evalkit.owner") if one.labels.get("evalkit.owner") == DEAD])
            == 1
        )
    finally:
        for name in made:
            engine.remove(name)


async def test_clean_spares_the_living(open_docker, ours) -> None:
    sandbox = await open_docker(run_id="run-living")
    clean_docker()
    assert len(ours("run-living")) == 1
    assert (await sandbox.exec("echo alive")).stdout.text == "alive\n"


async def test_the_runtime_names_engine_and_version(sandbox: DockerSandbox) -> None:
    assert sandbox.runtime == check_docker().runtime
    assert str(sandbox.image_digest).startswith("sha256:")


def test_importing_the_sandboxes_does_not_import_docker() -> None:
    code = "import sys, evalkit.sandbox, evalkit.sandbox.docker.provider; sys.exit('docker' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
