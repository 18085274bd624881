"""The engine's limits hold, and the sandbox outlives who runs into them."""

from __future__ import annotations

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment, Limits
from evalkit.sandbox.docker.provider import DockerSandbox

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def test_a_program_over_the_memory_limit_is_killed_and_the_sandbox_lives(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(memory_mb=150)))
    result = await sandbox.exec(["python3", "-c", "x = b'1' * 400_000_000"])
    assert result.exit_code == 137
    assert (await sandbox.exec("echo next")).stdout.text == "next\n"


async def test_shared_memory_counts_as_memory_and_is_bounded(sandbox: DockerSandbox) -> None:
    result = await sandbox.exec("head -c 100000000 /dev/zero > /dev/shm/big; wc -c < /dev/shm/big")
    assert result.stdout.text.strip() == str(64 * 1024 * 1024)
    assert "No space left" in result.stderr.text


async def test_a_full_shared_memory_stops_no_call(sandbox: DockerSandbox) -> None:
    await sandbox.exec("head -c 100000000 /dev/zero > /dev/shm/big")
    assert (await sandbox.exec("cat", stdin=b"given")).stdout.text == "given"
    assert not [path for path in await sandbox.snapshot() if ".evalkit" in path]


async def test_more_processors_than_there_are_can_be_asked_for(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(cpus=4096.0)))
    assert (await sandbox.exec("echo runs")).stdout.text == "runs\n"


@pytest.mark.parametrize("command", ["ulimit -f unlimited", "echo 9999 > /sys/fs/cgroup/pids/pids.max"])
async def test_limits_cannot_be_raised(sandbox: DockerSandbox, command: str) -> None:
    assert (await sandbox.exec(command)).exit_code != 0


async def test_an_unknown_runtime_is_one_clear_error(docker_support: None) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run", trial_id="trial", runtime="no-such-runtime")
    with pytest.raises(SandboxError, match="no-such-runtime"):
        await sandbox.start()
