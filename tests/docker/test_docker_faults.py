"""Whatever breaks around a container is one clear error, and nothing waits for it."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
from pathlib import Path

import anyio
import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment
from evalkit.sandbox.docker import engine as engine_module
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.sandbox.docker.support import check_docker, clean_docker

# The SDK drops its socket where it cannot connect.
pytestmark = [pytest.mark.anyio, pytest.mark.docker, pytest.mark.filterwarnings("ignore:unclosed <socket")]


async def started(run: str) -> DockerSandbox:
    sandbox = DockerSandbox(Environment(), run_id=run, trial_id="trial")
    await sandbox.start()
    return sandbox


async def nothing_left(ours, run: str) -> bool:
    for _ in range(100):
        if not ours(run):
            return True
        await anyio.sleep(0.05)
    return False


async def test_an_engine_lost_in_a_call_ends_it_and_takes_the_container_along(proxy, ours) -> None:
    sandbox = await started("run-lost")
    call = asyncio.create_task(sandbox.exec("sleep 60"))
    await anyio.sleep(0.3)
    proxy.close()
    with anyio.fail_after(20), pytest.raises(SandboxError, match="engine"):
        await call
    for use in (sandbox.exec("true"), sandbox.read_file("/etc/passwd"), sandbox.snapshot(), sandbox.halt()):
        with anyio.fail_after(20), pytest.raises(SandboxError) as refused:
            await use
        assert refused.value.hint
    with anyio.fail_after(20):
        await sandbox.stop()
    assert await nothing_left(ours, "run-lost")


async def test_an_engine_that_falls_silent_ends_a_call_without_a_timeout(
    proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "CALL_S", 2.0)
    sandbox = await started("run-silent")
    call = asyncio.create_task(sandbox.exec("sleep 60"))
    await anyio.sleep(0.3)
    proxy.silent = True
    with anyio.fail_after(30), pytest.raises(SandboxError, match="engine does not answer"):
        await call
    proxy.close()
    with anyio.fail_after(30):
        await sandbox.stop()


async def test_a_container_killed_from_outside_is_no_exit_code(open_docker, engine: Engine, ours) -> None:
    sandbox = await open_docker(run_id="run-outside")
    call = asyncio.create_task(sandbox.exec("sleep 60"))
    await anyio.sleep(0.3)
    [container] = ours("run-outside")
    await asyncio.to_thread(engine.remove, container)
    with anyio.fail_after(20), pytest.raises(SandboxError, match="container is gone") as refused:
        await call
    assert refused.value.hint
    for use in (sandbox.exec("true"), sandbox.read_file("/etc/passwd"), sandbox.snapshot(), sandbox.halt()):
        with anyio.fail_after(20), pytest.raises(SandboxError):
            await use


@pytest.mark.parametrize("how", ["kill", "pause", "stop"])
async def test_a_container_that_is_ended_or_paused_from_outside_is_one_clear_error(
    open_docker, engine: Engine, ours, how: str
) -> None:
    sandbox = await open_docker(run_id="run-outside")
    call = asyncio.create_task(sandbox.exec("sleep 60"))
    await anyio.sleep(0.3)
    [found] = ours("run-outside")
    strike = {
        "kill": lambda: engine._client.kill(found),
        "pause": lambda: engine.pause(found),
        "stop": lambda: engine._client.stop(found, timeout=1),
    }
    await asyncio.to_thread(strike[how])
    with (
        anyio.fail_after(20),
        pytest.raises(SandboxError, match="paused" if how == "pause" else "gone") as it,
    ):
        await call
    assert "from outside" in (it.value.hint or "") or "outside killed" in (it.value.hint or "")
    with anyio.fail_after(20), pytest.raises(SandboxError):
        await sandbox.exec("true")
    with anyio.fail_after(20):
        await sandbox.stop()
    assert await nothing_left(ours, "run-outside")


async def test_a_container_that_is_paused_between_calls_is_said_with_the_next(
    open_docker, engine: Engine, ours
) -> None:
    sandbox = await open_docker(run_id="run-paused")
    [found] = ours("run-paused")
    await asyncio.to_thread(engine.pause, found)
    with anyio.fail_after(20), pytest.raises(SandboxError, match="paused"):
        await sandbox.exec("true", timeout_s=60)


async def test_children_that_hold_the_pipes_hold_nothing_up(open_docker) -> None:
    sandbox = await open_docker()
    with anyio.fail_after(10):
        result = await sandbox.exec("(trap '' TERM HUP; while :; do sleep 1; done) & echo started")
        assert result.stdout.text == "started\n"
        await sandbox.halt()
        alive = (await sandbox.exec("ls /proc | grep -c '^[0-9]'")).stdout.text.strip()
        assert alive in {
            "4",
            "5",
        }  # process 1, two shells, ls, and grep, which may come too late to be listed


def test_no_engine_is_one_clear_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    support = check_docker()
    assert not support.ok
    assert "no container engine" in (support.problem or "")
    assert "Install Docker or Podman" in (support.hint or "")
    assert clean_docker() == []


def test_an_engine_that_was_stopped_is_one_clear_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/s")
    support = check_docker()
    assert not support.ok
    assert "systemctl start docker" in (support.hint or "")


def test_an_engine_behind_ssh_or_tls_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://somewhere")
    assert "ssh" in (check_docker().problem or "")


def test_an_engine_that_one_may_not_use_says_which_group(
    docker_support: None, monkeypatch: pytest.MonkeyPatch, somebody
) -> None:
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as folder:
        path = Path(folder) / "s"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            listening.listen()
            path.chmod(0o600)
            Path(folder).chmod(0o755)
            monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
            with somebody():
                if os.access(path, os.W_OK, effective_ids=True):
                    path.chmod(0)
                support = check_docker()
    assert "may not use" in (support.problem or "")
    assert "usermod -aG docker" in (support.hint or "")


@pytest.mark.parametrize(("api", "words"), [("1.40", "too old"), ("1.24", "too old")])
def test_an_old_engine_is_refused_with_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, api: str, words: str
) -> None:
    body = f'{{"Version": "19.03.1", "ApiVersion": "{api}", "NCPU": 1}}'.encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )

    def serve(listening: socket.socket) -> None:
        for _ in range(3):  # whether it is there, its version, and how many processors it has
            near, _ = listening.accept()
            with near:
                if near.recv(65536):
                    near.sendall(answer.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/s")
        support = check_docker()
        thread.join(5)
    assert words in (support.problem or "")
    assert "19.03.1" in (support.problem or "")
    assert "20.10" in (support.hint or "")
