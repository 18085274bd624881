"""What only containers can show: the image's own files change, and the engine's archives are hostile data."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import DeliverableRefused, SandboxError, TaskError
from evalkit.sandbox import Deliverable, Environment, Placement
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.trajectory.artifacts import ArtifactStore

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def test_changes_to_the_images_own_files_are_seen(sandbox: DockerSandbox) -> None:
    before = await sandbox.snapshot()
    await sandbox.exec(
        "rm /etc/debian_version; echo x >> /etc/passwd; chmod 700 /home /usr; touch /etc/shells; "
        "rm -rf /etc/cron.d; mkdir /etc/cron.d; echo x > /etc/cron.d/new; echo x >> /etc/hosts; echo x > /dev/shm/x; "
        "ln -sf /bin/true /usr/bin/yes; rm -rf /opt; ln -s /tmp /opt"
    )
    after = await sandbox.snapshot()
    differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert differing - {path for path in before if path.startswith("/etc/cron.d/")} == {
        *("/etc/debian_version", "/etc/passwd", "/home", "/etc/cron.d/new", "/etc/hosts", "/dev/shm/x"),
        *("/usr/bin/yes", "/usr", "/opt"),
    }
    assert "/etc/debian_version" not in after
    assert (after["/opt"].kind, after["/opt"].target) == ("link", "/tmp")
    assert [path for path in after if path.startswith("/etc/cron.d/")] == ["/etc/cron.d/new"]


async def test_huge_sparse_files_are_listed_without_being_read(sandbox: DockerSandbox) -> None:
    await sandbox.exec(
        "for i in 1 2 3; do truncate -s 9G huge$i; done; echo small > small; mkdir d; echo x > d/x"
    )
    entries = await sandbox.snapshot()
    assert [entries[f"/app/huge{i}"].size for i in (1, 2, 3)] == [9 * 1024**3] * 3
    assert entries["/app/huge1"].sha256 is None
    assert entries["/app/small"].sha256
    assert entries["/app/d/x"].sha256


async def test_a_hostile_tree_breaks_nothing(sandbox: DockerSandbox, store: ArtifactStore) -> None:
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
    with pytest.raises(DeliverableRefused, match="too long"):
        await sandbox.export(["/app"], store)
    assert await sandbox.workspace_digest() is not None


@pytest.mark.parametrize(
    ("make", "path"),
    [
        ("ln -s /etc/passwd out/x", "/app/out/x"),
        ("ln -s ../secret out/x", "/app/out/x"),
        ("mkdir out/a; ln -s ../.. out/a/x", "/app/out/a/x"),
        ("mkfifo out/x", "/app/out/x"),
    ],
    ids=["absolute link", "climbing link", "link above", "fifo"],
)
async def test_what_could_lead_outside_is_refused(
    sandbox: DockerSandbox, store: ArtifactStore, make: str, path: str
) -> None:
    assert (await sandbox.exec(f"mkdir out; {make}")).exit_code == 0
    with pytest.raises(DeliverableRefused) as refused:
        await sandbox.export(["/app/out"], store)
    assert refused.value.where == path
    assert (await sandbox.exec("echo next")).stdout.text == "next\n"


async def test_a_socket_that_is_named_is_refused(sandbox: DockerSandbox, store: ArtifactStore) -> None:
    await sandbox.exec(["python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('out')"])
    with pytest.raises(DeliverableRefused, match="socket"):
        await sandbox.export(["/app/out"], store)


@pytest.mark.parametrize(
    "bad",
    [
        Deliverable("/app/x", "link", 0o777, target="/tests/answer"),
        Deliverable("app/x", "dir", 0o755),
        Deliverable("/app/../etc/x", "dir", 0o755),
        Deliverable("/app/x", "file", 0o644, 1, "0" * 64),
        Deliverable("/etc", "link", 0o777, target="/etc"),
    ],
    ids=["link out", "relative", "climbing", "content missing", "a link for a top folder"],
)
async def test_a_forged_record_is_not_placed(
    sandbox: DockerSandbox, store: ArtifactStore, bad: Deliverable
) -> None:
    with pytest.raises(SandboxError):
        await sandbox.place([bad], store)


async def test_placed_files_are_roots_and_readable_by_all(open_docker, tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/sub/closed").write_text("x")
    (tmp_path / "in/sub/closed").chmod(0o640)
    sandbox = await open_docker(Environment(user="agent", files=(Placement(tmp_path / "in", "/etc"),)))
    assert (await sandbox.exec("stat -c '%U %a' /etc /etc/sub /etc/sub/closed /app")).stdout.text == (
        "root 755\nroot 755\nroot 644\nagent 755\n"
    )


async def test_a_missing_placement_is_the_tasks_error_and_leaves_nothing(
    open_docker, ours, tmp_path: Path
) -> None:
    with pytest.raises(TaskError, match="No such file"):
        await open_docker(
            Environment(files=(Placement(tmp_path / "missing", "/app/x"),)), run_id="run-missing"
        )
    assert ours("run-missing") == []


async def test_every_folder_of_the_image_can_be_read_and_written(open_docker) -> None:
    sandbox = await open_docker(Environment(workdir="/usr/local/x"))
    await sandbox.write_file("/opt/new/file", b"x")
    assert await sandbox.read_file("/opt/new/file") == b"x"
    assert (await sandbox.read_file("/usr/bin/env")).startswith(b"\x7fELF")
    assert (await sandbox.exec("pwd")).stdout.text == "/usr/local/x\n"


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/new\nline"])
def test_a_working_directory_that_is_none_is_the_tasks_error(path: str) -> None:
    with pytest.raises(TaskError):
        DockerSandbox(Environment(workdir=path), run_id="run", trial_id="trial")


@pytest.mark.parametrize(
    "before", ["mkdir -p x/sub; touch x/f", "touch x", "ln -s /etc x", "mkfifo x", "true"]
)
async def test_a_cleared_folder_is_empty_whatever_stood_there(sandbox: DockerSandbox, before: str) -> None:
    await sandbox.exec(before)
    await sandbox.clear_folder("/app/x")
    assert (await sandbox.exec("stat -c '%F %a' x; ls -A x; wc -l < /etc/hosts")).stdout.text.startswith(
        "directory 755\n"
    )
    assert (await sandbox.exec("ls -A x; test -s /etc/passwd")).exit_code == 0
