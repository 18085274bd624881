"""What a sandbox holds is counted, wherever it is hidden, and a sandbox that cannot be watched ends."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment, ExecResult, Limits
from evalkit.sandbox.local import watchdog as watchdog_module
from evalkit.sandbox.local.processes import Process
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.local.watchdog import Bounds, Usage, Watchdog

pytestmark = [pytest.mark.anyio, pytest.mark.local]

SMALL = Environment(limits=Limits(memory_mb=128, storage_mb=20))

CHUNKS = "os.write(f, bytes(1 << 20))"
HIDDEN = {
    "files without a name": f"""
for i in range(4):
    f = os.open("f", os.O_RDWR | os.O_CREAT); os.unlink("f")
    for _ in range(10): {CHUNKS}
""",
    "a folder that may not be read": f"""
os.mkdir("d"); os.chmod("d", 0o300)
for i in range(4):
    f = os.open(f"d/f{{i}}", os.O_RDWR | os.O_CREAT)
    for _ in range(10): {CHUNKS}
os.close(f)
""",
    "a folder deeper than any path": f"""
for i in range(20):
    os.mkdir("d" * 250); os.chdir("d" * 250)
for i in range(4):
    f = os.open(f"f{{i}}", os.O_RDWR | os.O_CREAT)
    for _ in range(10): {CHUNKS}
    os.close(f)
""",
}


def program(body: str) -> list[str]:
    return ["python3", "-c", f"import os, time\n{body}\nprint('made', flush=True); time.sleep(8)"]


def stopped(result: ExecResult, why: str) -> bool:
    return (
        result.exit_code == 137 and f"evalkit: stopped: {why}" in result.stderr.text and not result.timed_out
    )


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN.keys())
async def test_storage_is_counted_wherever_it_is(open_local, body: str) -> None:
    sandbox = await open_local(SMALL)
    assert stopped(await sandbox.exec(program(body), timeout_s=20), "files over the limit of 20 MB")


async def test_memory_in_files_without_a_mapping_is_counted(open_local) -> None:
    sandbox = await open_local(SMALL)
    body = f"""
k = []
for i in range(12):
    f = os.memfd_create("x"); k.append(f)
    for _ in range(15): {CHUNKS}
"""
    assert stopped(await sandbox.exec(program(body), timeout_s=20), "memory over the limit of 128 MB")


async def test_memory_is_looked_at_while_a_large_tree_is_counted(
    open_local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog_module, "STORAGE_PERIOD_S", 60.0)
    sandbox = await open_local(SMALL)
    body = """
for i in range(4):
    if os.fork() == 0:
        b = bytearray(60 << 20); b[::4096] = b"1" * len(b[::4096]); time.sleep(8); os._exit(0)
"""
    result = await sandbox.exec(program(body), timeout_s=20)
    assert stopped(result, "memory over the limit")
    assert result.duration_s < 3


async def test_folders_that_keep_moving_are_counted_or_count_as_over_the_limit(open_local) -> None:
    sandbox = await open_local(SMALL)
    body = """
import threading
os.makedirs("a/b/c"); os.makedirs("z")
for i in range(3000): os.mkdir(f"a/b/c/{i}")
for i in range(4): open(f"a/b/{i}", "wb").write(bytes(10 << 20))
def move():
    while True:
        os.rename("a/b", "z/b"); time.sleep(.002); os.rename("z/b", "a/b"); time.sleep(.002)
threading.Thread(target=move, daemon=True).start()
time.sleep(20)
"""
    assert stopped(await sandbox.exec(program(body), timeout_s=25), "")


def test_folders_that_do_not_hold_still_twice_running_are_over_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [None, Usage(0, 0), None, None]
    monkeypatch.setattr(watchdog_module, "usage", lambda _: answers.pop(0))
    watchdog = watching(tmp_path)
    said = [watchdog.look_at_storage() for _ in range(4)]
    assert said == [None, None, None, "its folders move faster than they can be counted"]


async def test_what_the_shell_itself_was_made_to_do_is_counted(open_local) -> None:
    sandbox = await open_local(SMALL)
    line = 'while :; do printf %s "$v" >> /app/g$j; i=$((i+1)); [ $i -lt 9 ] || { i=0; j=$((j+1)); }; done'
    injected = await sandbox.exec(
        "head -c 1000000 /dev/zero | tr '\\0' x > big; "
        f"printf '%s\\n' 'i=0; j=0; read -r v < /app/big; {line}' > /proc/$PPID/fd/0"
    )
    if injected.exit_code != 0:
        assert os.geteuid() == 0, "only where another user made it the shell's input cannot be opened"
        return
    for _ in range(40):
        await asyncio.sleep(0.1)
        if not sandbox._alive():
            break
    result = await sandbox.exec("true")
    assert result.shell_lost
    assert "evalkit: stopped: files over the limit" in result.late


async def test_a_disk_that_is_almost_full_stops_the_sandbox(
    open_local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog_module, "FLOOR_SHARE", 2.0)
    monkeypatch.setattr(watchdog_module, "FLOOR_BYTES", 1 << 60)
    sandbox = await open_local()
    assert stopped(await sandbox.exec("sleep 5"), "the machine's disk is almost full")


async def test_a_look_that_fails_is_a_broken_limit(open_local, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(tree: Path) -> None:
        raise OSError("unexpected")

    monkeypatch.setattr(watchdog_module, "usage", broken)
    sandbox = await open_local()
    assert stopped(await sandbox.exec("sleep 5"), "it can no longer be watched")
    assert stopped(await sandbox.exec("sleep 5"), "it can no longer be watched")


async def test_a_sandbox_whose_watchdog_died_does_not_go_on(
    open_local, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def died(self: Watchdog) -> None:
        await asyncio.sleep(0.3)
        raise RuntimeError("unexpected")

    monkeypatch.setattr(Watchdog, "run", died)
    sandbox = await open_local()
    assert (await sandbox.exec("sleep 5")).shell_lost
    with pytest.raises(SandboxError, match="no longer be watched"):
        await sandbox.exec("true")


async def test_who_was_stopped_may_tidy_up(open_local) -> None:
    sandbox = await open_local(SMALL)
    fill = "for i in 1 2 3; do head -c 9000000 /dev/zero > f$i; done; sleep 8"
    assert stopped(await sandbox.exec(fill, timeout_s=20), "files over the limit")
    assert (await sandbox.exec("rm f*; sleep 1; ls | wc -l")).stdout.text == "0\n"


def watching(tree: Path) -> Watchdog:
    """A watchdog of a sandbox in which two processes run that hold nothing."""

    async def stop(note: str) -> None:
        raise AssertionError(note)

    gone = [Process(0, 2**30), Process(0, 2**30 + 1)]
    return Watchdog(tree, Bounds(100, 100, 10), lambda: gone, stop, threading.Lock())


def test_looking_stays_silent_where_nothing_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(1000))
    watchdog = watching(tmp_path)
    assert (watchdog.look_at_processes(), watchdog.look_at_storage()) == (None, None)


async def test_the_kernel_takes_memory_from_sandboxes_first(sandbox: LocalSandbox) -> None:
    assert (await sandbox.exec("cat /proc/self/oom_score_adj")).stdout.text == "1000\n"


async def test_space_that_is_reserved_is_written(sandbox: LocalSandbox) -> None:
    reserve = "import os; f = os.open('f', 66); os.posix_fallocate(f, 0, 3 << 20); print(os.fstat(f).st_size)"
    assert (await sandbox.exec(["python3", "-c", reserve])).stdout.text == f"{3 << 20}\n"
    assert (await sandbox.exec("fallocate -l 3M g")).exit_code == 1
