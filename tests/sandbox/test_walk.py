"""A tree that somebody hostile made is listed and removed, whatever is in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evalkit.sandbox.digest import MAX_ENTRIES, workspace_digest
from evalkit.sandbox.local.removal import remove_tree
from evalkit.sandbox.snapshot import snapshot
from evalkit.sandbox.walk import OPEN_FOLDER, PATH_BYTES, TreeChanged, walk

DEPTH = 10_000


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "tree"
    root.mkdir()
    yield root
    remove_tree(root)


def paths(root: Path) -> list[str]:
    folder = os.open(root, OPEN_FOLDER)
    try:
        return [visit.path for visit in walk(folder, "")]
    finally:
        os.close(folder)


def digest(root: Path) -> str | None:
    folder = os.open(root, OPEN_FOLDER)
    try:
        return workspace_digest(folder)
    finally:
        os.close(folder)


def dig(root: Path, depth: int) -> None:
    """Make folders in folders; no path leads to the deepest, so each is made from its parent."""
    here = os.open(root, OPEN_FOLDER)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", OPEN_FOLDER, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)


def test_parents_come_before_children_and_names_are_sorted(tree: Path) -> None:
    (tree / "b/deep").mkdir(parents=True)
    (tree / "b/deep/file").touch()
    (tree / "a").mkdir()
    (tree / "c").touch()
    assert paths(tree) == ["/a", "/b", "/c", "/b/deep", "/b/deep/file"]


def test_links_are_listed_and_not_followed(tree: Path) -> None:
    (tree / "loop").symlink_to(".")
    (tree / "out").symlink_to("/etc")
    assert paths(tree) == ["/loop", "/out"]


@pytest.mark.parametrize("name", [b"new\nline", b"\xff\xfe", b"\x1b[2J", b"   ", b"-rf"])
def test_any_name_is_listed_digested_and_removed(tree: Path, name: bytes) -> None:
    (tree / os.fsdecode(name)).mkdir()
    (tree / os.fsdecode(name) / os.fsdecode(name)).touch()
    listed = paths(tree)
    assert [os.fsencode(one) for one in listed] == [b"/" + name, b"/" + name + b"/" + name]
    assert digest(tree) is not None
    remove_tree(tree)
    assert not tree.exists()


def test_ten_thousand_levels_are_removed(tree: Path) -> None:
    dig(tree, DEPTH)
    remove_tree(tree)
    assert not tree.exists()


def test_ten_thousand_levels_are_listed_as_deep_as_a_path_can_lead(tree: Path) -> None:
    dig(tree, DEPTH)
    listed = paths(tree)
    assert len(listed) == PATH_BYTES // 2 + 1
    assert digest(tree) is not None


def test_a_folder_that_may_not_be_read_is_read_and_left_as_it_was(tree: Path) -> None:
    (tree / "closed").mkdir()
    (tree / "closed/file").write_text("x")
    (tree / "closed/file").chmod(0)
    (tree / "closed").chmod(0)
    folder = os.open(tree, OPEN_FOLDER)
    try:
        entries = snapshot(folder, lambda _: 0)
    finally:
        os.close(folder)
    assert entries["/closed/file"].sha256 is not None
    assert (entries["/closed"].mode, entries["/closed/file"].mode) == (0, 0)
    assert tree.joinpath("closed").stat().st_mode & 0o777 == 0
    remove_tree(tree)
    assert not tree.exists()


def test_looking_for_changes_changes_nothing(
    open_folder: Path, somebody: Callable[[], AbstractContextManager[None]]
) -> None:
    with somebody():
        (open_folder / "closed").mkdir()
        (open_folder / "closed").chmod(0)
        assert digest(open_folder) == digest(open_folder)


def test_removing_does_not_follow_links(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").touch()
    (tree / "link").symlink_to(outside)
    remove_tree(tree)
    assert (outside / "keep").exists()


def test_removing_what_is_gone_is_fine(tree: Path) -> None:
    remove_tree(tree / "never")
    remove_tree(tree / "never/below")


def test_a_folder_that_is_moved_while_it_is_read_is_noticed(tree: Path) -> None:
    (tree / "a/b/c").mkdir(parents=True)
    (tree / "elsewhere").mkdir()
    folder = os.open(tree, OPEN_FOLDER)
    try:
        visits = walk(folder, "")
        while next(visits).path != "/a/b/c":
            pass
        (tree / "a/b").rename(tree / "elsewhere/b")
        with pytest.raises(TreeChanged):
            list(visits)
    finally:
        os.close(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "file").write_text("other"),
        lambda tree: (tree / "file").chmod(0o600),
        lambda tree: (tree / "new").touch(),
        lambda tree: (tree / "file").unlink(),
        lambda tree: (tree / "file").rename(tree / "renamed"),
        lambda tree: ((tree / "brief").touch(), (tree / "brief").unlink()),
        lambda tree: ((tree / "file").write_text("same"), os.utime(tree / "file", (1, 1))),
    ],
    ids=["content", "mode", "new", "removed", "renamed", "made and removed", "restored time"],
)
def test_the_digest_sees_every_change(tree: Path, change) -> None:
    (tree / "file").write_text("same")
    os.utime(tree / "file", (1, 1))
    before = digest(tree)
    assert digest(tree) == before
    change(tree)
    assert digest(tree) != before


def test_the_digest_of_a_large_tree_is_not_measured(tree: Path) -> None:
    for folder in range(21):
        (tree / str(folder)).mkdir()
        for name in range(MAX_ENTRIES // 20):
            os.close(os.open(tree / str(folder) / str(name), os.O_CREAT))
    assert digest(tree) is None
