"""Files are put in, read, listed and watched from outside as they are inside."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox import Environment, Placement, check_environment
from evalkit.sandbox.local.provider import LocalSandbox

pytestmark = [pytest.mark.anyio, pytest.mark.local]


async def test_a_written_file_is_there_with_its_folders(sandbox: LocalSandbox) -> None:
    await sandbox.write_file("a/b/run.sh", b"#!/bin/sh\necho ran\n", executable=True)
    await sandbox.write_file("/tmp/plain", b"\0\xff")
    assert (
        await sandbox.exec("a/b/run.sh; stat -c '%U %a' a/b a/b/run.sh")
    ).stdout.text == "ran\nroot 755\nroot 755\n"
    assert await sandbox.read_file("/tmp/plain") == b"\0\xff"


async def test_an_existing_file_is_replaced_whatever_its_mode(sandbox: LocalSandbox) -> None:
    await sandbox.exec("echo much longer > file; chmod 0 file")
    await sandbox.write_file("file", b"new")
    assert (await sandbox.exec("cat file")).stdout.text == "new"


async def test_the_agent_can_change_what_was_written(sandbox: LocalSandbox) -> None:
    await sandbox.write_file("made/file", b"1")
    assert (await sandbox.exec("echo 2 >> made/file && rm made/file && rmdir made")).exit_code == 0


async def test_reading_says_what_is_wrong(sandbox: LocalSandbox) -> None:
    await sandbox.exec("mkdir dir; mkfifo fifo; head -c 100 /dev/zero > big; ln -s loop loop")
    with pytest.raises(FileNotFoundError):
        await sandbox.read_file("missing")
    with pytest.raises(IsADirectoryError):
        await sandbox.read_file("dir")
    with pytest.raises(SandboxError, match="not a regular file"):
        await sandbox.read_file("fifo")
    with pytest.raises(SandboxError, match="larger than 99 bytes"):
        await sandbox.read_file("big", max_bytes=99)
    with pytest.raises(OSError, match="Too many levels"):
        await sandbox.read_file("loop")


async def test_writing_into_a_fifo_or_a_folder_fails_without_waiting(sandbox: LocalSandbox) -> None:
    await sandbox.exec("mkfifo fifo; mkdir dir")
    for name in ("fifo", "dir"):
        with pytest.raises((SandboxError, OSError)):
            await sandbox.write_file(name, b"x")


async def test_links_lead_where_they_lead_inside(sandbox: LocalSandbox) -> None:
    await sandbox.exec(
        "ln -s /etc/hostname here; ln -s ../../../../../etc/hostname climbing; mkdir -p /run/r; ln -s /var/run/r r"
    )
    assert await sandbox.read_file("here") == b"evalkit\n"
    assert await sandbox.read_file("climbing") == b"evalkit\n"
    await sandbox.write_file("r/file", b"x")
    assert (await sandbox.exec("cat /run/r/file")).stdout.text == "x"


async def test_a_link_never_leads_to_the_host(sandbox: LocalSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("host")
    await sandbox.exec(f"ln -s {tmp_path}/secret secret; ln -s /proc/self/root root; ln -s {tmp_path} folder")
    with pytest.raises((FileNotFoundError, SandboxError)):
        await sandbox.read_file("secret")
    with pytest.raises((FileNotFoundError, SandboxError)):
        await sandbox.read_file("root/etc/shadow")
    await sandbox.write_file("secret", b"changed")
    assert (tmp_path / "secret").read_text() == "host"


async def test_files_of_the_machine_are_read_with_exec(sandbox: LocalSandbox) -> None:
    with pytest.raises(SandboxError, match="not in a folder of this sandbox's own") as refused:
        await sandbox.read_file("/usr/bin/env")
    assert "exec" in (refused.value.hint or "")


# Placements


async def test_placed_files_and_folders_are_there_at_the_start(open_local, tmp_path: Path) -> None:
    (tmp_path / "folder/sub").mkdir(parents=True)
    (tmp_path / "folder/sub/run.sh").write_text("#!/bin/sh\necho placed\n")
    (tmp_path / "folder/sub/run.sh").chmod(0o700)
    (tmp_path / "folder/link").symlink_to("sub/run.sh")
    (tmp_path / "one").write_text("single")
    sandbox = await open_local(
        Environment(
            workdir="/srv/app/deep",
            files=(Placement(tmp_path / "folder", "/srv/app"), Placement(tmp_path / "one", "/data/in/file")),
        )
    )
    result = await sandbox.exec(
        "pwd; /srv/app/link; cat /data/in/file; echo more >> /data/in/file; ls -A /srv/app"
    )
    assert result.stdout.text == "/srv/app/deep\nplaced\nsingledeep\nlink\nsub\n"


async def test_a_link_in_a_placed_folder_does_not_carry_the_hosts_file(open_local, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text("host")
    (tmp_path / "folder/link").symlink_to(tmp_path / "secret")
    sandbox = await open_local(Environment(files=(Placement(tmp_path / "folder", "/app"),)))
    assert (await sandbox.exec("cat link")).exit_code == 1


@pytest.mark.parametrize(
    "path", ["/usr/local/x", "/opt/x", "/bin/x", "/proc/x", "/", "relative", "/a/../usr"]
)
async def test_a_working_directory_that_needs_a_container_is_the_tasks_error(path: str) -> None:
    with pytest.raises(TaskError):
        check_environment("local", Environment(workdir=path))


async def test_a_missing_placement_is_the_tasks_error_and_leaves_nothing(
    open_local, tmp_path: Path, scratch: Path
) -> None:
    with pytest.raises(TaskError, match="No such file"):
        await open_local(Environment(files=(Placement(tmp_path / "missing", "/app/x"),)))
    assert list(scratch.glob("sandbox-*")) == []


async def test_placements_that_contradict_each_other_are_the_tasks_error(open_local, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    both = (Placement(tmp_path / "file", "/app/x"), Placement(tmp_path / "file", "/app/x/below"))
    with pytest.raises(TaskError, match="Not a directory"):
        await open_local(Environment(files=both))


async def test_private_folders_are_writable_and_readonly_ones_are_not(open_local, scratch: Path) -> None:
    data = scratch / "data"
    data.mkdir()
    (data / "file").write_text("shared")
    data.chmod(0o755)
    sandbox = await open_local(Environment(private=("/logs/verifier",), readonly=(data,)))
    result = await sandbox.exec(f"touch /logs/verifier/x && cat {data}/file; touch {data}/x || echo denied")
    assert result.stdout.text == "shareddenied\n"
    await sandbox.halt()
    assert (await sandbox.exec(f"cat {data}/file")).stdout.text == "shared"


# Snapshots


async def test_a_snapshot_tells_kind_mode_owner_size_content_and_target(open_local) -> None:
    sandbox = await open_local(Environment(user="agent"))
    await sandbox.exec(
        "printf abc > file; chmod 640 file; mkdir dir; ln -s file link; mkfifo fifo; echo x > /dev/shm/x"
    )
    entries = await sandbox.snapshot()
    file = entries["/app/file"]
    assert (file.kind, file.mode, file.owner, file.size) == ("file", 0o640, 1000, 3)
    assert file.sha256 == hashlib.sha256(b"abc").hexdigest()
    assert (entries["/app/link"].kind, entries["/app/link"].target) == ("link", "file")
    assert (entries["/app/dir"].kind, entries["/app/fifo"].kind) == ("dir", "fifo")
    assert "/dev/shm/x" in entries


async def test_what_did_not_change_is_equal_in_two_snapshots(sandbox: LocalSandbox) -> None:
    await sandbox.exec("echo same > same; echo before > changed; echo gone > gone")
    before = await sandbox.snapshot()
    await sandbox.exec("touch same; echo same > same; echo after > changed; rm gone; echo new > /etc/new")
    after = await sandbox.snapshot()
    differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert differing == {"/app/changed", "/app/gone", "/etc/new"}


async def test_a_hostile_tree_breaks_nothing(sandbox: LocalSandbox) -> None:
    make = """
import os
os.makedirs("closed/sub"); os.chmod("closed", 0)
os.symlink("loop", "loop"); os.symlink(".", "self")
open(b"\\xff\\n", "w").close()
here = os.open(".", os.O_RDONLY)
for _ in range(10_000):
    os.mkdir("d", dir_fd=here); deeper = os.open("d", os.O_RDONLY, dir_fd=here); os.close(here); here = deeper
print("made")
"""
    assert (await sandbox.exec(["python3", "-c", make], timeout_s=60)).stdout.text == "made\n"
    entries = await sandbox.snapshot()
    assert "/app/closed/sub" in entries
    assert "/app/\udcff\n" in entries
    assert await sandbox.workspace_digest() is not None
    await sandbox.stop()


# The digest of the working directory


async def test_the_digest_changes_with_the_working_directory_only(sandbox: LocalSandbox) -> None:
    before = await sandbox.workspace_digest()
    await sandbox.exec("echo x > /tmp/elsewhere")
    assert await sandbox.workspace_digest() == before
    await sandbox.exec("echo x > here")
    assert await sandbox.workspace_digest() != before


async def test_a_removed_working_directory_has_a_digest_of_its_own(open_local) -> None:
    sandbox = await open_local(Environment(workdir="/srv/app"))
    before = await sandbox.workspace_digest()
    await sandbox.exec("rm -rf /srv/app")
    assert await sandbox.workspace_digest() not in {None, before}
