"""The engine's limits hold, and the sandbox outlives who runs into them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import anyio
import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment, Limits
from evalkit.sandbox.docker import watchdog
from evalkit.sandbox.docker.container import check_warnings
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.sandbox.docker.warden import SCRIPT
from evalkit.sandbox.docker.watchdog import PERIOD_S, is_full

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def test_a_program_over_the_memory_limit_is_killed_and_the_sandbox_lives(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(memory_mb=150)))
    result = await sandbox.exec(["python3", "-c", "x = b'1' * 400_000_000"])
    assert result.exit_code == 137
    assert result.over_limit
    assert result.stderr.text.endswith("evalkit: killed: over the memory limit of 150 MB\n")
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


async def test_who_asks_for_more_than_there_is_gets_all_of_it_and_is_told(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(cpus=4096.0, memory_mb=10**9)))
    assert [one.partition(":")[0] for one in sandbox.reduced] == ["cpus", "memory_mb"]
    assert "4096 asked for" in sandbox.reduced[0]
    assert (await sandbox.exec("echo runs")).stdout.text == "runs\n"
    assert (await open_docker()).reduced == ()


async def test_what_kills_itself_is_not_said_to_be_short_of_memory(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(memory_mb=150)))
    eat = "python3 -c \"x = b'1' * 400_000_000\" >/dev/null 2>&1"
    assert (await sandbox.exec(f"{eat}; true")).exit_code == 0
    await anyio.sleep(2 * PERIOD_S + 0.5)
    result = await sandbox.exec("kill -9 $$")
    assert (result.exit_code, result.stderr.text) == (137, "")


async def test_who_is_short_of_memory_never_takes_process_1_along(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(memory_mb=20)))
    small = "x=$(head -c 1000000 /dev/zero | tr '\\0' x); sleep 60"
    await sandbox.exec(
        f"for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3; do ({small}) & done; done; wait", timeout_s=3
    )
    for _ in range(
        20
    ):  # while those that were killed still hold their memory, a new one may be killed as well
        said = (await sandbox.exec("cat /proc/1/oom_score_adj /proc/$$/oom_score_adj")).stdout.text
        if said:
            break
        await anyio.sleep(0.25)
    assert said == "0\n1000\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"}, "3"),
        ({"sys/fs/cgroup/memory.events": "low 0\noom 9\noom_kill 4\noom_group_kill 0\n"}, "4"),
        (
            {
                "proc/1/cgroup": "0::/system.slice/docker-1.scope\n",
                "sys/fs/cgroup/memory.events": "oom_kill 99\n",
                "sys/fs/cgroup/system.slice/docker-1.scope/memory.events": "oom 1\noom_kill 5\n",
            },
            "5",
        ),
        ({"proc/1/cgroup": "0::/\n", "sys/fs/cgroup/memory.events": "oom_kill 6\n"}, "6"),
        ({}, "unknown"),
    ],
    ids=["version 1", "version 2", "version 2 of the host", "version 2 of its own", "neither"],
)
def test_kills_are_counted_whatever_control_groups_look_like(
    tmp_path, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    order = f'w_root={tmp_path}; w_memory_kills; echo "$w_said"\n'
    done = subprocess.run(
        ["sh", "-c", SCRIPT], input=order, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.stdout == f"{said}\n"


def test_a_limit_that_the_engine_will_not_keep_is_refused_and_swap_accounting_is_not_needed() -> None:
    check_warnings(["Your kernel does not support swap limit capabilities. Memory limited without swap."])
    check_warnings(["Your kernel does not support swap limit capabilities. Swap limitation discarded."])
    with pytest.raises(SandboxError, match="cannot keep a limit") as refused:
        check_warnings(["Your kernel does not support pids limit capabilities. PIDs limit discarded."])
    assert refused.value.hint


async def test_an_unknown_runtime_is_one_clear_error(docker_support: None, ours) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-runtime", trial_id="trial", runtime="no-such-runtime")
    with pytest.raises(SandboxError, match="no-such-runtime") as refused:
        await sandbox.start()
    assert "evalkit.toml" in (refused.value.where or "")
    assert "[sandbox] runtime" in (refused.value.where or "")
    assert "runc" in (refused.value.hint or "")
    assert ours("run-runtime") == []


async def test_a_runtime_that_is_there_is_used(docker_support: None) -> None:
    sandbox = DockerSandbox(Environment(), run_id="run-runtime", trial_id="trial", runtime="runc")
    await sandbox.start()
    assert sandbox.runtime.endswith("(runc)")
    await sandbox.stop()


async def test_a_full_disk_is_said_once_and_room_can_be_made(open_docker) -> None:
    sandbox = await open_docker(Environment(limits=Limits(storage_mb=40)))
    fill = "i=0; while :; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); sleep 0.1; done"
    with anyio.fail_after(20):
        result = await sandbox.exec(fill)
    assert result.stderr.text.endswith("evalkit: stopped: files over the limit of 40 MB\n")
    assert (await sandbox.exec("rm f*")).exit_code == 0
    assert (await sandbox.exec("echo x > y; cat y")).stdout.text == "x\n"


def test_a_disk_that_is_almost_full_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    assert not is_full(None)
    assert not is_full(tmp_path / "missing")
    monkeypatch.setattr(watchdog, "FLOOR_SHARE", 1.0)
    monkeypatch.setattr(watchdog, "FLOOR_BYTES", 2**80)
    assert is_full(tmp_path)


async def test_output_without_end_costs_the_host_no_memory(sandbox: DockerSandbox) -> None:
    await sandbox.exec("head -c 50000000 /dev/zero")
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_mb()
    result = await sandbox.exec("head -c 1000000000 /dev/zero; head -c 200000000 /dev/zero >&2")
    assert (result.stdout.total, result.stderr.total) == (1_000_000_000, 200_000_000)
    assert peak_mb() - before < 80


def peak_mb() -> int:
    [line] = [one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) // 1024
