"""Whatever a trial changes is seen from outside, and what it does not change is not."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from evalkit.sandbox import Environment, Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.local]

Opener = Callable[..., Awaitable[Any]]


def table() -> Any:
    spec = importlib.util.spec_from_file_location("changes_of_files", Path(__file__).with_name("changes.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the words of annotations
    spec.loader.exec_module(module)
    return module


changes = table()


async def printed(sandbox: Sandbox, line: str) -> str:
    done = await sandbox.exec(line, timeout_s=120)
    assert done.exit_code == 0, done.stderr.text
    return done.stdout.text


def sees_all(sandbox: Sandbox) -> bool:
    """Whether what a container has in memory, and the files of its programs, may be looked at."""
    return not sandbox.runtime.startswith("docker") or os.geteuid() == 0


LIARS = "find sha256sum ls stat ps ss netstat cat sh readlink printf test"
"""Programs that the agent replaces by one that says nothing and succeeds."""
LIE = (
    f"mkdir -p /root/bin; for name in {LIARS}; do printf '#!/bin/true\\n' > /root/bin/$name; "
    "chmod 755 /root/bin/$name; rm -f /usr/bin/$name 2>/dev/null && cp /root/bin/$name /usr/bin/$name; done; "
    "hash -r; export PATH=/root/bin:$PATH"
)
SERVER = (
    "import socket, time\n"
    "a = socket.create_server(('127.0.0.1', 8123))\n"
    "b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.bind(('0.0.0.0', 8124))\n"
    "c = socket.socket(socket.AF_UNIX); c.bind('/tmp/a socket'); c.listen()\n"
    "d = socket.socket(socket.AF_UNIX); d.bind('\\0hidden'); d.listen()\n"
    "e = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); e.connect(('127.0.0.1', 8124))\n"
    "f = socket.create_connection(('127.0.0.1', 8123))\n"
    "open('/tmp/ready', 'w').close(); time.sleep(600)\n"
)


async def serve(sandbox: Sandbox) -> None:
    await sandbox.write_file("/app/server.py", SERVER.encode())
    await printed(
        sandbox, "python3 /app/server.py >/dev/null 2>&1 & while ! [ -e /tmp/ready ]; do sleep 0.05; done"
    )


async def test_every_kind_of_change_to_files_is_seen_and_nothing_else(open_local: Opener) -> None:
    sandbox = await open_local(Environment(disks=(changes.DISK,)))
    assert await printed(sandbox, changes.script({one.folder: one.before for one in changes.FILES})) == ""
    before = await sandbox.snapshot()
    assert await printed(sandbox, changes.script({one.folder: one.do for one in changes.FILES})) == ""
    await sandbox.halt()
    after = await sandbox.snapshot()
    expected: dict[str, str] = {}
    for one in changes.FILES:
        if one.name != "tmpfs" or sees_all(sandbox):
            expected.update(one.expected)
    assert changes.differences(before, after) == expected
    huge = after["/app/sparse file/huge"]
    assert (huge.size, huge.sha256) == (changes.HUGE, None)
    assert after["/app/hard link/twin"] == after["/app/hard link/file"]


async def test_what_is_not_changed_is_the_same_in_every_snapshot(sandbox: Sandbox) -> None:
    assert await sandbox.snapshot() == await sandbox.snapshot()


async def test_no_place_that_can_be_written_is_missing_in_a_snapshot(open_local: Opener) -> None:
    """Except where only the kernel keeps what is written: /proc, and terminals."""
    sandbox = await open_local(Environment(disks=(changes.DISK,)))
    said = await printed(
        sandbox,
        r"""while read -r _ where _; do where=$(printf "$where"); [ -d "$where" ] || where=${where%/*}
        ( : > "$where/written-here" ) 2>/dev/null && echo "$where"; done < /proc/mounts; :""",
    )
    found = await sandbox.snapshot()
    places = {where.rstrip("/") for where in said.splitlines()}
    assert {"/dev/shm", changes.DISK.path} <= places
    unseen = {where for where in places if f"{where}/written-here" not in found}
    assert unseen <= (
        set() if sees_all(sandbox) else {"/dev", "/dev/mqueue", "/sys/fs/cgroup", changes.DISK.path}
    )
    for more in ("mount -t tmpfs none /app", "unshare -Urm true"):
        assert (await sandbox.exec(more)).exit_code != 0


async def test_processes_that_live_on_are_seen(sandbox: Sandbox) -> None:
    assert await sandbox.processes() == ()
    await printed(
        sandbox,
        "cp $(command -v sleep) './my sleep'; './my sleep' 600 & setsid sleep 601 >/dev/null 2>&1 & sleep 0.2",
    )
    found = await sandbox.processes()
    assert sorted((one.program, one.command) for one in found) == [
        ("my sleep", "./my sleep 600"),
        ("sleep", "sleep 601"),
    ]
    assert all(one.pid > 1 and one.started > 0 for one in found)
    assert await sandbox.processes() == found
    await sandbox.halt()
    assert await sandbox.processes() == ()


async def test_a_process_cannot_hide_behind_another_name(sandbox: Sandbox) -> None:
    await printed(
        sandbox,
        'python3 -c \'import ctypes, time; libc = ctypes.CDLL(None); libc.prctl(15, b") R 1 (sh", 0, 0, 0); '
        "time.sleep(600)' & sleep 0.5",
    )
    [found] = await sandbox.processes()
    assert found.program.startswith("python3") or not sees_all(sandbox)
    assert found.started > 0


async def test_what_a_call_leaves_for_a_moment_is_no_process(sandbox: Sandbox) -> None:
    for _ in range(5):
        await sandbox.exec("cat > /dev/null", stdin=b"x" * 1000)
        assert await sandbox.processes() == ()


async def test_sockets_that_wait_are_seen_and_others_are_not(sandbox: Sandbox) -> None:
    assert await sandbox.listeners() == ()
    await serve(sandbox)
    found = await sandbox.listeners()
    assert [(one.protocol, one.address, one.port) for one in found] == [
        ("tcp", "127.0.0.1", 8123),
        ("udp", "0.0.0.0", 8124),
        ("unix", "/tmp/a socket", None),
        ("unix", "@hidden", None),
    ]
    assert not any(one.inside for one in found)
    await sandbox.halt()
    assert await sandbox.listeners() == ()


async def test_an_agent_that_replaces_programs_changes_nothing_of_what_is_seen(sandbox: Sandbox) -> None:
    await printed(sandbox, "echo old > /app/file; echo x > /app/gone")
    before = await sandbox.snapshot()
    await serve(sandbox)
    await printed(sandbox, f"sleep 600 & echo new > /app/file; rm /app/gone; {LIE}; :")
    found = await sandbox.processes()
    assert sorted(one.program[:7] for one in found) == ["python3", "sleep"]
    assert [one.port for one in await sandbox.listeners()] == [8123, 8124, None, None]
    seen = changes.differences(before, await sandbox.snapshot())
    assert {path: seen[path] for path in ("/app/file", "/app/gone", "/app/server.py", "/tmp/ready")} == {
        "/app/file": "modified",
        "/app/gone": "deleted",
        "/app/server.py": "created",
        "/tmp/ready": "created",
    }
    assert {"/root/bin/find", "/root/bin/sha256sum", "/root/bin/ls"} <= seen.keys()


async def test_a_listing_tells_which_paths_a_call_has_touched(sandbox: Sandbox) -> None:
    await printed(sandbox, "mkdir d; echo x > d/same; echo x > changed; echo x > gone; echo x > 'a\nb|c'")
    before = await sandbox.listing()
    assert before is not None
    assert {"/app", "/app/d", "/app/d/same", "/app/a\nb|c"} <= before.keys()
    assert await sandbox.listing() == before
    await anyio.sleep(0.02)
    await printed(sandbox, "echo y > changed; touch -d @1 changed; rm gone; echo x > d/made")
    after = await sandbox.listing()
    assert after is not None
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == {
        *("/app", "/app/changed", "/app/gone", "/app/d", "/app/d/made"),
    }


async def test_a_digest_and_a_listing_of_one_call_say_the_same(sandbox: Sandbox) -> None:
    await printed(sandbox, "mkdir d; echo x > d/x")
    alone = await sandbox.listing()
    digest = await sandbox.workspace_digest()
    assert await sandbox.listing() == alone
    assert await sandbox.workspace_digest() == digest
    await printed(sandbox, "echo y > d/y")
    after = await sandbox.listing()
    assert after is not None
    assert "/app/d/y" in after


async def test_a_listing_of_too_many_paths_is_not_made(sandbox: Sandbox) -> None:
    await printed(sandbox, "python3 -c 'for n in range(20100): open(str(n), \"w\").close()'")
    assert await sandbox.listing() is None


async def test_a_working_directory_that_is_gone_breaks_no_listing(sandbox: Sandbox) -> None:
    await sandbox.exec("rm -rf /app/* && (rmdir /app || mount) 2>/dev/null; :", cwd="/")
    found = await sandbox.listing()
    assert found is not None
    assert not [path for path in found if path.startswith("/app/")]
