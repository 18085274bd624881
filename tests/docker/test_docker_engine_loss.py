"""An engine that stops, or says nothing any more, ends whatever waits for it; at every moment, with one clear error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment, Placement
from evalkit.sandbox.docker import engine as engine_module
from evalkit.sandbox.docker import looking, pulse, warden
from evalkit.sandbox.docker.engine import Engine, connect
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.trajectory.artifacts import ArtifactStore

# The SDK drops its socket where it cannot connect.
pytestmark = [pytest.mark.anyio, pytest.mark.docker, pytest.mark.filterwarnings("ignore:unclosed <socket")]

FAULTS = ["gone", "silent"]
SLEEP = "sleep 611"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice silence in two seconds instead of fifteen."""
    monkeypatch.setattr(pulse, "PERIOD_S", 0.5)
    monkeypatch.setattr(pulse, "ANSWER_S", 1.5)
    monkeypatch.setattr(engine_module, "PING_S", 1.5)


@pytest.fixture
def fail(proxy, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lose the engine for good: from now on no patience is of any use."""

    def lose(fault: str) -> None:
        if fault == "gone":
            proxy.close()
        else:
            proxy.silent = True
            monkeypatch.setattr(pulse, "ANSWER_S", 0.3)
            monkeypatch.setattr(engine_module, "PING_S", 0.3)

    return lose


async def nothing_runs(engine: Engine, run: str) -> bool:
    for _ in range(100):
        if not any(engine.running(one.id) for one in engine.owned(f"evalkit.run={run}")):
            return True
        await anyio.sleep(0.05)
    return False


def building(engine: Engine) -> bool:
    return any(SLEEP in one["Command"] for one in engine._client.containers())


async def wait_until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not await asyncio.to_thread(true):
            await anyio.sleep(0.05)


MOMENTS = {
    "finding the image": b"/images/",
    "making the container": b"/containers/create",
    "attaching": b"/attach?",
    "starting": b"/start HTTP",
    "first word of process 1": b":; echo",
    "making folders": b"w_folder 0 ",
    "putting files": b"/archive?path=%2F",
    "opening a shell": b"/exec HTTP",
    "taking the shell over": b"/exec/",
    "greeting the shell": b"printf 'evalkit",
    "asking for its memory": b"w_memory_kills;",
}
"""What passes on its way to the engine when a start comes to each of its parts."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_in_the_middle_of_a_start(
    proxy, fail, engine: Engine, tmp_path: Path, fault: str, moment: str
) -> None:
    connect()
    (tmp_path / "file").write_text("x")
    placed = Placement(tmp_path / "file", "/put/here/file")
    sandbox = DockerSandbox(Environment(files=(placed,)), run_id="run-loss", trial_id="trial")
    proxy.cue = MOMENTS[moment]
    starting = asyncio.create_task(sandbox.start())
    assert await asyncio.to_thread(proxy.cued.wait, 20)
    fail(fault)
    with anyio.fail_after(15):
        [result] = await asyncio.gather(starting, return_exceptions=True)
        if isinstance(result, SandboxError):
            assert "engine" in result.message
            assert result.hint
        else:  # it does without what it was not told
            assert result is None
            assert moment == "asking for its memory"
        await sandbox.stop()
    proxy.close()
    assert await nothing_runs(engine, "run-loss")
    for left in engine.owned("evalkit.run=run-loss"):  # made, but never started
        assert "evalkit.owner" in left.labels
        engine.remove(left.id)


USES: dict[str, Callable[[DockerSandbox, Path], Awaitable[object]]] = {
    "exec": lambda box, folder: box.exec("sleep 60"),
    "exec with a timeout": lambda box, folder: box.exec("sleep 60", timeout_s=1),
    "snapshot": lambda box, folder: box.snapshot(),
    "export": lambda box, folder: box.export(["/app"], ArtifactStore(folder)),
    "read": lambda box, folder: box.read_file("/app/big"),
    "write": lambda box, folder: box.write_file("new", b"x" * 10_000_000),
    "halt": lambda box, folder: box.halt(),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("use", USES)
async def test_in_the_middle_of_a_use(
    proxy, fail, engine: Engine, ours, tmp_path: Path, fault: str, use: str
) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-loss", trial_id="trial")
    await sandbox.start()
    await sandbox.exec("head -c 60000000 /dev/urandom > big; sleep 100 &")
    using = asyncio.ensure_future(USES[use](sandbox, tmp_path))
    await anyio.sleep(0.06)
    fail(fault)
    with anyio.fail_after(25):
        [result] = await asyncio.gather(using, return_exceptions=True)
        if isinstance(result, SandboxError):
            assert "engine" in result.message
            assert result.hint
        else:  # it was faster, or nothing was lost by it
            assert not isinstance(result, BaseException) or use == "read"
        with pytest.raises(SandboxError) as refused:
            await sandbox.exec("true")
        assert "engine" in refused.value.message
        await sandbox.stop()
    proxy.close()
    assert await nothing_runs(engine, "run-loss")


async def test_while_process_1_tells_its_sockets(
    proxy, fail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "PROC", tmp_path)  # as where the engine is on another machine
    monkeypatch.setattr(warden, "ANSWER_S", 1.0)
    sandbox = DockerSandbox(Environment(), run_id="run-loss", trial_id="trial")
    await sandbox.start()
    assert await sandbox.listeners() == ()
    proxy.cue = b"w_sockets "
    looked = asyncio.create_task(sandbox.listeners())
    assert await asyncio.to_thread(proxy.cued.wait, 20)
    fail("silent")
    with anyio.fail_after(15), pytest.raises(SandboxError, match="the container engine does not answer"):
        await looked
    proxy.close()
    await sandbox.stop()


@pytest.mark.parametrize("fault", FAULTS)
async def test_in_the_middle_of_a_build(proxy, fail, engine: Engine, tmp_path: Path, fault: str) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN {SLEEP}\n")
    sandbox = DockerSandbox(
        Environment(dockerfile=tmp_path / "Dockerfile"), run_id="run-loss", trial_id="trial"
    )
    starting = asyncio.create_task(sandbox.start())
    await wait_until(lambda: building(engine))
    fail(fault)
    with anyio.fail_after(15), pytest.raises(SandboxError, match="engine") as refused:
        await starting
    assert "systemctl start docker" in (refused.value.hint or "")
    proxy.close()
    await wait_until(lambda: not building(engine))


@pytest.mark.parametrize("fault", FAULTS)
async def test_at_the_end(proxy, fail, engine: Engine, fault: str) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-loss", trial_id="trial")
    await sandbox.start()
    fail(fault)
    with anyio.fail_after(15):
        await sandbox.stop()
    proxy.close()
    assert await nothing_runs(engine, "run-loss")


async def test_an_engine_that_is_only_busy_is_waited_for(proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-busy", trial_id="trial")
    await sandbox.start()
    monkeypatch.setattr(pulse, "ANSWER_S", 30.0)
    call = asyncio.create_task(sandbox.exec("sleep 4; echo done"))
    await anyio.sleep(0.3)
    proxy.held.clear()
    await anyio.sleep(3)
    proxy.held.set()
    assert (await call).stdout.text == "done\n"
    await sandbox.stop()


async def test_an_engine_that_answers_again_is_used_again(proxy) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-loss", trial_id="trial")
    await sandbox.start()
    proxy.silent = True
    with anyio.fail_after(15), pytest.raises(SandboxError, match="does not answer"):
        await sandbox.exec("sleep 60")
    proxy.silent = False
    await sandbox.stop()
    again = DockerSandbox(Environment(), run_id="run-loss", trial_id="trial")
    await again.start()
    assert (await again.exec("echo again")).stdout.text == "again\n"
    await again.stop()
