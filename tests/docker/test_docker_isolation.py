"""What an agent cannot do in a container, and what root there still can. Denials are only looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.errors import TaskError
from evalkit.sandbox import Environment
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.provider import DockerSandbox

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def out(sandbox: DockerSandbox, command: str, user: str | None = None) -> str:
    return (await sandbox.exec(command, user=user)).stdout.text


@pytest.mark.parametrize(
    "command",
    [
        "echo x > /proc/sys/kernel/core_pattern",
        "mount -t tmpfs none /tmp",
        "unshare -m true",
        "unshare -n true",
        "mknod /tmp/node b 8 0",
        "chroot / true",
        "dmesg",
        "hostname other",
        "date -s 2001-01-01 > /dev/null",
        "ls /var/run/docker.sock",
        "kill -9 1; kill -STOP 1; sleep 0.1; false",
    ],
)
async def test_it_is_denied_to_root(sandbox: DockerSandbox, command: str) -> None:
    result = await sandbox.exec(f"{command} 2>/dev/null && echo done || echo denied")
    assert result.stdout.text == "denied\n"


async def test_root_keeps_what_package_managers_need(sandbox: DockerSandbox) -> None:
    result = await sandbox.exec(
        "echo x > f && chown agent:agent f && chmod 400 f && echo y >> f && chmod 4755 f && "
        "su agent -c 'sleep 60 & echo $!' > pid && kill $(cat pid) && stat -c '%U %a' f"
    )
    assert (result.stdout.text, result.stderr.text) == ("agent 4755\n", "")


async def test_no_program_gains_privileges(sandbox: DockerSandbox) -> None:
    assert await out(sandbox, "grep NoNewPrivs /proc/self/status") == "NoNewPrivs:\t1\n"
    await sandbox.exec("cp /usr/bin/id /usr/bin/rid && chmod 4755 /usr/bin/rid")
    assert await out(sandbox, "rid -u", user="agent") == "1000\n"


async def test_there_is_no_network_but_loopback(sandbox: DockerSandbox) -> None:
    assert await out(sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '") == "lo\n"


async def test_a_network_is_there_where_the_task_asks(open_docker) -> None:
    sandbox = await open_docker(Environment(network=True))
    assert "eth0" in await out(sandbox, "cut -d: -f1 /proc/net/dev")


async def test_the_hosts_environment_does_not_leak(
    open_docker, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_TEST_SECRET", "leaked")
    sandbox = await open_docker(Environment(env={"GIVEN": "yes"}))
    names = {line.partition("=")[0] for line in (await out(sandbox, "env")).splitlines()}
    podmans_own = {"container", "TERM"} if engine.version.name == "podman" else set[str]()
    assert names - podmans_own == {"GIVEN", "HOME", "HOSTNAME", "PATH", "PWD"}


async def test_an_agent_without_privileges_reaches_neither_process_1_nor_roots_files(open_docker) -> None:
    sandbox = await open_docker(Environment(user="agent"))
    assert await out(sandbox, "id -un; touch here && echo writes; kill 1 2>&1; ls /proc/1/fd 2>&1") == (
        "agent\nwrites\nsh: 1: kill: Operation not permitted\n\n"
        "ls: cannot open directory '/proc/1/fd': Permission denied\n"
    )
    assert await out(sandbox, "id -u", user="root") == "0\n"
    assert await out(sandbox, "id -u; id -g", user="1234:77") == "1234\n77\n"


async def test_a_user_that_is_not_there_is_named(sandbox: DockerSandbox) -> None:
    with pytest.raises(TaskError, match="no user nosuchuser"):
        await sandbox.exec("true", user="nosuchuser")
    assert await out(sandbox, "echo next") == "next\n"


async def test_other_sandboxes_are_invisible(open_docker) -> None:
    one, other = await open_docker(trial_id="one"), await open_docker(trial_id="other")
    await one.exec("sleep 4321 & echo secret > /dev/shm/secret; echo secret > /tmp/secret")
    assert "sleep 4321" not in await out(other, "ps -eo args")
    assert await out(other, "ls -A /dev/shm /tmp") == "/dev/shm:\n\n/tmp:\n"


async def test_no_descriptor_of_the_harness_is_inherited(sandbox: DockerSandbox) -> None:
    listing = await out(sandbox, "ls -l /proc/self/fd | grep -- '->'")
    assert all(word in line for line in listing.splitlines() for word in ["->"])
    assert not [
        line for line in listing.splitlines() if not any(k in line for k in ("pipe:", "/dev/null", "/proc/"))
    ]


async def test_the_container_carries_its_labels_and_no_log(open_docker, engine: Engine) -> None:
    sandbox = await open_docker(run_id="run-labels", trial_id="trial-7")
    [found] = engine.owned("evalkit.run=run-labels")
    assert found.labels["evalkit.trial"] == "trial-7"
    assert str(os.getpid()) in found.labels["evalkit.owner"]
    await sandbox.exec("echo x > /proc/1/fd/1; echo x > /proc/1/fd/1")
    assert not [
        log for log in Path("/var/lib/docker/containers").glob(f"{found.id}/*.log") if log.stat().st_size
    ]
    assert (await sandbox.exec("echo next")).stdout.text == "next\n"
