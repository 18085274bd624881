"""Files leave a sandbox as data, and a tree that could lead its reader elsewhere is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox import Deliverable, Environment, Placement
from evalkit.sandbox import export as export_module
from evalkit.sandbox.export import check_link, outermost
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.trajectory.artifacts import ArtifactStore

isolated = [pytest.mark.anyio, pytest.mark.local]


def isolated_test(function):
    for mark in isolated:
        function = mark(function)
    return function


@isolated_test
async def test_files_folders_and_links_arrive_with_content_and_mode(
    sandbox: LocalSandbox, store: ArtifactStore
) -> None:
    await sandbox.exec(
        "mkdir -p out/empty out/sub; printf data > out/sub/file; chmod 751 out/sub/file; ln -s sub/file out/link"
    )
    taken = {one.path: one for one in await sandbox.export(["/app/out"], store)}
    assert sorted(taken) == [
        "/app/out",
        "/app/out/empty",
        "/app/out/link",
        "/app/out/sub",
        "/app/out/sub/file",
    ]
    file = taken["/app/out/sub/file"]
    assert (file.kind, file.mode, file.size) == ("file", 0o751, 4)
    assert store.path(file.digest or "").read_bytes() == b"data"
    assert (taken["/app/out/link"].kind, taken["/app/out/link"].target) == ("link", "sub/file")


@isolated_test
async def test_what_was_taken_out_can_be_placed_elsewhere(open_local, store: ArtifactStore) -> None:
    agent, grader = await open_local(), await open_local()
    await agent.exec(
        "mkdir -p out/ro; echo 1 > out/ro/file; ln -s ro/file out/link; chmod 555 out/ro; chmod 400 out/ro/file"
    )
    taken = await agent.export(["/app/out", "/app/missing"], store)
    await grader.place(taken, store)
    result = await grader.exec("cat out/link; stat -c %a out/ro out/ro/file; readlink out/link; ls")
    assert result.stdout.text == "1\n555\n400\nro/file\nout\n"


@isolated_test
async def test_a_missing_path_is_left_out(sandbox: LocalSandbox, store: ArtifactStore) -> None:
    await sandbox.write_file("file", b"x")
    taken = await sandbox.export(["/app/nothing", "/app/file/below", "/app/file"], store)
    assert [one.path for one in taken] == ["/app/file"]


@isolated_test
@pytest.mark.parametrize(
    ("make", "path"),
    [
        ("ln -s /etc/passwd out/x", "/app/out/x"),
        ("ln -s ../secret out/x", "/app/out/x"),
        ("mkdir out/a; ln -s ../.. out/a/x", "/app/out/a/x"),
        ("mkfifo out/x", "/app/out/x"),
        ("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('out/x')\"", "/app/out/x"),
        ("echo 1 > secret; ln secret out/x", "/app/out/x"),
    ],
    ids=["absolute link", "climbing link", "link above", "fifo", "socket", "hard link"],
)
async def test_what_could_lead_outside_is_refused_by_name(
    sandbox: LocalSandbox, store: ArtifactStore, make: str, path: str
) -> None:
    assert (await sandbox.exec(f"mkdir out; {make}")).exit_code == 0
    with pytest.raises(SandboxError) as refused:
        await sandbox.export(["/app/out"], store)
    assert refused.value.where == path


@isolated_test
async def test_a_path_that_leads_through_a_link_is_refused(
    sandbox: LocalSandbox, store: ArtifactStore
) -> None:
    await sandbox.exec("mkdir real; echo 1 > real/file; ln -s real out")
    with pytest.raises(DeliverableRefused, match="through a link"):
        await sandbox.export(["/app/out/file"], store)


@isolated_test
async def test_hard_links_that_are_all_taken_are_files(sandbox: LocalSandbox, store: ArtifactStore) -> None:
    await sandbox.exec("mkdir out; echo 1 > out/a; ln out/a out/b")
    files = [one for one in await sandbox.export(["/app/out"], store) if one.kind == "file"]
    assert [one.path for one in files] == ["/app/out/a", "/app/out/b"]
    assert files[0].digest == files[1].digest


@isolated_test
async def test_a_sparse_file_counts_at_its_full_size(
    sandbox: LocalSandbox, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "MAX_BYTES", 1_000_000)
    await sandbox.exec("truncate -s 2M sparse")
    with pytest.raises(SandboxError, match="bytes would be taken out"):
        await sandbox.export(["/app"], store)


@isolated_test
async def test_too_many_files_are_refused(
    sandbox: LocalSandbox, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "MAX_ENTRIES", 10)
    await sandbox.exec("for i in $(seq 10); do : > $i; done")
    with pytest.raises(SandboxError, match="more than 10 files"):
        await sandbox.export(["/app"], store)


@isolated_test
async def test_unreadable_files_are_taken_and_left_unreadable(
    sandbox: LocalSandbox, store: ArtifactStore
) -> None:
    await sandbox.exec("mkdir -p out/dir; echo 1 > out/dir/file; chmod 0 out/dir/file out/dir")
    taken = {one.path: one for one in await sandbox.export(["/app/out"], store)}
    assert taken["/app/out/dir/file"].size == 2
    assert (await sandbox.exec("stat -c %a out/dir")).stdout.text == "0\n"


@isolated_test
async def test_files_are_taken_after_halt(sandbox: LocalSandbox, store: ArtifactStore) -> None:
    await sandbox.exec("echo 1 > file; sleep 60 &")
    await sandbox.halt()
    assert [one.path for one in await sandbox.export(["/app/file"], store)] == ["/app/file"]


@isolated_test
@pytest.mark.parametrize(
    "bad",
    [
        Deliverable("/app/x", "link", 0o777, target="/tests/answer"),
        Deliverable("/usr/bin/x", "dir", 0o755),
        Deliverable("app/x", "dir", 0o755),
        Deliverable("/app/../etc/x", "dir", 0o755),
        Deliverable("/app/x", "file", 0o644, 1, "0" * 64),
    ],
    ids=["link out", "host folder", "relative", "climbing", "content missing"],
)
async def test_a_forged_record_is_not_placed(
    sandbox: LocalSandbox, store: ArtifactStore, bad: Deliverable
) -> None:
    with pytest.raises(SandboxError):
        await sandbox.place([bad], store)


@isolated_test
async def test_nothing_is_placed_through_a_link(open_local, store: ArtifactStore) -> None:
    sandbox = await open_local(Environment(private=("/tests",)))
    await sandbox.exec("ln -s /tests /app/out")
    await sandbox.place([Deliverable("/app/out/x", "dir", 0o755)], store)
    assert (await sandbox.exec("ls /tests; stat -c %F /app/out")).stdout.text == "directory\n"


@isolated_test
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
@pytest.mark.parametrize(
    "before", ["echo old > x", "mkdir -p x/sub; echo old > x/sub/old", "ln -s /etc/hosts x"]
)
async def test_what_was_delivered_takes_the_place_of_what_stood_there(
    open_local, store: ArtifactStore, before: str, kind: str
) -> None:
    agent, grader = await open_local(trial_id="agent"), await open_local(trial_id="grader")
    make = {"file": "echo new > x", "folder": "mkdir x; echo new > x/new", "link": "ln -s y x; echo new > y"}
    await agent.exec(make[kind])
    await grader.exec(before)
    await grader.place(await agent.export(["/app/x", "/app/y"], store), store)
    listing = "cat x x/new 2>/dev/null; find . | sort"
    assert (await grader.exec(listing)).stdout.text == (await agent.exec(listing)).stdout.text
    assert "localhost" in (await grader.exec("cat /etc/hosts")).stdout.text


@isolated_test
@pytest.mark.parametrize("path", ["/app/out", "/app"])
async def test_what_the_agent_deleted_in_a_delivered_folder_stays_deleted(
    open_local, store: ArtifactStore, tmp_path: Path, path: str
) -> None:
    (tmp_path / "task/out").mkdir(parents=True)
    (tmp_path / "task/out/unwanted").write_text("of the task")
    environment = Environment(files=(Placement(tmp_path / "task", "/app"),))
    agent = await open_local(environment, trial_id="agent")
    grader = await open_local(environment, trial_id="grader")
    await agent.exec("rm out/unwanted; touch out/made")
    await grader.place(await agent.export([path], store), store)
    assert (await grader.exec("ls out; touch still-mine")).stdout.text == "made\n"


@isolated_test
async def test_a_tree_too_deep_to_be_placed_is_the_agents_doing(
    sandbox: LocalSandbox, store: ArtifactStore
) -> None:
    await sandbox.exec("mkdir -p $(printf 'd/%.0s' $(seq 300))")
    with pytest.raises(DeliverableRefused):
        await sandbox.export(["/app/d"], store)


@isolated_test
async def test_the_deepest_tree_that_is_taken_can_be_placed(open_local, store: ArtifactStore) -> None:
    agent, grader = await open_local(trial_id="agent"), await open_local(trial_id="grader")
    depth = export_module.MAX_DEPTH - 2
    assert (await agent.exec(f"p=$(printf 'd/%.0s' $(seq {depth})); mkdir -p $p; touch $p/f")).exit_code == 0
    await grader.place(await agent.export(["/app/d"], store), store)
    assert (await grader.exec("find d -name f | wc -l")).stdout.text == "1\n"


def test_paths_below_others_are_taken_once() -> None:
    assert outermost(["/a/b", "/a", "/a/", "/ab", "/c/./d"]) == ["/a", "/ab", "/c/d"]


NAMES = st.sampled_from(["a", "b", "..", ".", ""])


@given(st.lists(NAMES, max_size=6), st.lists(st.sampled_from(["a", "b"]), max_size=3), st.booleans())
def test_a_link_that_is_accepted_never_leads_out(
    target: list[str], folders: list[str], absolute: bool
) -> None:
    link = "/".join(["/out", *folders, "link"])
    text = ("/out/" if absolute else "") + "/".join(target)
    try:
        check_link(link, text, ["/out"])
    except SandboxError:
        return
    lands = os.path.normpath(Path(link).parent / text)
    assert lands == "/out" or lands.startswith("/out/")


def test_a_link_that_climbs_behind_another_link_is_refused() -> None:
    with pytest.raises(SandboxError):
        check_link("/out/s/t/x", "a/../q", ["/out"])
