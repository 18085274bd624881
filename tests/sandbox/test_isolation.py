"""What an agent cannot do from inside. Every test only looks whether something is denied."""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.local.seccomp import ARCHITECTURES

pytestmark = [pytest.mark.anyio, pytest.mark.local]

SYSCALL = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
done = libc.syscall(*map(int, sys.argv[1:]))
print(done, errno.errorcode.get(ctypes.get_errno(), "ok"))
"""


async def out(sandbox: LocalSandbox, command: str) -> str:
    return (await sandbox.exec(command)).stdout.text


async def denied(sandbox: LocalSandbox, command: str) -> bool:
    """Whether the command failed and nothing but that was the reason for its exit code."""
    result = await sandbox.exec(f"{command} 2>/dev/null && echo done || echo denied")
    assert result.stdout.text in {"done\n", "denied\n"}
    return result.stdout.text == "denied\n"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > /proc/sys/kernel/core_pattern",
        "echo x > /proc/sys/vm/drop_caches",
        "cat /etc/shadow",
        "cat /proc/1/environ",
        "ls /proc/1/root/",
        "ls /proc/1/fd/",
        "cat /proc/1/task/1/mem",
        "touch /proc/1/x",
        "mount -t tmpfs none /tmp",
        "mount -o remount,rw /usr",
        "umount /tmp",
        "unshare -U true",
        "unshare -n true",
        "unshare -m true",
        "nsenter -t 1 -m true",
        "mknod /tmp/node c 1 3",
        "chmod 600 /dev/null",
        "chown 12345 /dev/null",
        "chown 12345 /app",
        "chroot /tmp /bin/true",
        "touch /usr/x",
        "touch /opt/x",
        "touch /x",
        "touch /dev/x",
        "touch /.evalkit/x",
        "touch /.host/x",
        "touch /.host/alternatives/x",
        "dmesg",
        "hostname other",
        "date -s 2001-01-01 > /dev/null",
    ],
)
async def test_it_is_denied(sandbox: LocalSandbox, command: str) -> None:
    assert await denied(sandbox, command)


async def test_the_device_nodes_of_the_host_are_unchanged(sandbox: LocalSandbox) -> None:
    before = Path("/dev/null").stat().st_mode
    await sandbox.exec("chmod 600 /dev/null; chmod 600 /dev/zero; rm -f /dev/null")
    assert Path("/dev/null").stat().st_mode == before


async def test_host_folders_are_not_there(sandbox: LocalSandbox) -> None:
    secret = tempfile.mkdtemp(prefix="evalkit-secret-", dir="/var/tmp")
    try:
        listing = await out(sandbox, "ls -A / /var/tmp /home /root /tmp /run 2>&1; cat /proc/self/mountinfo")
    finally:
        Path(secret).rmdir()
    assert "evalkit-secret-" not in listing
    inside = set((await out(sandbox, "ls -A /")).split())
    assert inside <= {
        *("app", "bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root"),
        *("run", "sbin", "tmp", "usr", "var", ".evalkit", ".host"),
    }


async def test_no_account_key_or_service_configuration_of_the_host_is_copied(sandbox: LocalSandbox) -> None:
    assert (
        await out(
            sandbox,
            "ls -d /etc/shadow /etc/sudoers /etc/ssh /etc/docker /etc/pip.conf /etc/npmrc 2>/dev/null",
        )
        == ""
    )
    assert await out(sandbox, "cut -d: -f1 /etc/passwd") == "root\nnobody\n"


async def test_other_sandboxes_are_invisible(open_local) -> None:
    one, other = await open_local(trial_id="one"), await open_local(trial_id="other")
    await one.exec("sleep 4321 & echo secret > /tmp/secret; echo secret > /dev/shm/secret")
    assert "sleep 4321" not in await out(other, "ps -eo args")
    assert await out(other, "ls -A /tmp /dev/shm /app") == "/app:\n\n/dev/shm:\n\n/tmp:\n"


async def test_the_hosts_environment_does_not_leak(open_local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_TEST_SECRET", "leaked")
    sandbox = await open_local(Environment(env={"GIVEN": "yes"}))
    names = {line.partition("=")[0] for line in (await out(sandbox, "env")).splitlines()}
    assert names == {"GIVEN", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "USER"}
    assert "leaked" not in await out(sandbox, "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'")


async def test_no_descriptor_of_the_harness_is_inherited(open_local) -> None:
    open_before = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(open_before, True)
    try:
        sandbox = await open_local()
        listing = await out(sandbox, "ls -l /proc/self/fd; ls -l /proc/$PPID/fd")
    finally:
        os.close(open_before)
    assert "hostname" not in listing
    kept = [line for line in listing.splitlines() if "->" in line]
    assert all(("pipe:" in line or "/dev/null" in line or "/proc/" in line) for line in kept)


async def test_the_network_is_a_loopback_of_its_own(sandbox: LocalSandbox) -> None:
    interfaces = await out(sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")
    assert interfaces == "lo\n"
    assert await out(sandbox, "tail -n +2 /proc/net/route | wc -l") == "0\n"


async def test_a_network_that_the_task_asks_for_is_the_hosts(open_local) -> None:
    sandbox = await open_local(Environment(network=True))
    interfaces = (await out(sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1")).split()
    assert interfaces == [
        line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]
    ]


async def test_process_1_cannot_be_traced_but_ones_own_can(sandbox: LocalSandbox) -> None:
    seize = 16902
    attach = f"import ctypes, sys; print(ctypes.CDLL(None).ptrace({seize}, int(sys.argv[1]), 0, 0))"
    assert (await sandbox.exec(["python3", "-c", attach, "1"])).stdout.text == "-1\n"
    own = await sandbox.exec(f"sleep 5 & python3 -c '{attach}' $!")
    assert own.stdout.text == "0\n"


async def test_namespaces_cannot_be_entered(sandbox: LocalSandbox) -> None:
    enter = "import os, ctypes; print(ctypes.CDLL(None).setns(os.open('/proc/self/ns/net', 0), 0))"
    assert (await sandbox.exec(["python3", "-c", enter])).stdout.text == "-1\n"


@pytest.mark.parametrize("family", [40, 38, 17, 16 + 100], ids=["AF_VSOCK", "AF_ALG", "AF_PACKET", "unknown"])
async def test_unusual_sockets_are_denied(sandbox: LocalSandbox, family: int) -> None:
    make = f"import socket; socket.socket({family}, socket.SOCK_STREAM if {family} == 40 else 5, 0)"
    result = await sandbox.exec(["python3", "-c", make])
    assert result.exit_code == 1
    assert "Address family not supported" in result.stderr.text


@pytest.mark.parametrize("family", ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])
async def test_usual_sockets_can_be_made(sandbox: LocalSandbox, family: str) -> None:
    kind = "SOCK_RAW" if family == "AF_NETLINK" else "SOCK_STREAM"
    make = f"import socket; socket.socket(socket.{family}, socket.{kind}, 0); print('made')"
    assert (await sandbox.exec(["python3", "-c", make])).stdout.text == "made\n"


DENIED = sorted(ARCHITECTURES[platform.machine()].denied) if platform.machine() in ARCHITECTURES else []


@pytest.mark.parametrize("name", DENIED)
async def test_system_calls_outside_the_namespaces_are_denied(sandbox: LocalSandbox, name: str) -> None:
    number = ARCHITECTURES[platform.machine()].denied[name]
    result = await sandbox.exec(["python3", "-c", SYSCALL, str(number), "0", "0", "0", "0", "0"])
    assert result.stdout.text == "-1 EPERM\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 exists on x86_64 only")
async def test_system_calls_by_their_x32_numbers_are_denied(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec(["python3", "-c", SYSCALL, str(0x40000000 + 39)])
    assert result.stdout.text == "-1 EPERM\n"


async def test_common_programs_work(sandbox: LocalSandbox) -> None:
    check = "import ssl, json, sqlite3, tempfile, multiprocessing as m; m.Lock(); print(len(tempfile.mkdtemp()) > 0)"
    assert (await sandbox.exec(["python3", "-c", check])).stdout.text == "True\n"
    assert (
        await out(sandbox, "id -un; whoami; hostname; echo ~; date +%Z")
        == "root\nroot\nevalkit\n/root\nUTC\n"
    )
    assert (
        await sandbox.exec("getent hosts localhost; awk 'BEGIN { print 1 }'; mktemp; sort /etc/passwd")
    ).exit_code == 0


async def test_a_user_is_seen_by_name_and_number(open_local) -> None:
    sandbox = await open_local(Environment(user="agent", workdir="/home/agent/work"))
    assert await out(sandbox, "id -un; id -u; id -gn; echo $HOME; pwd; touch file ~/file && echo writes") == (
        "agent\n1000\nagent\n/home/agent\n/home/agent/work\nwrites\n"
    )
    assert (await sandbox.exec("echo $USER $HOME", user="root")).stdout.text == "root /root\n"
