"""A snapshot takes bounded time, whatever the files look like."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.sandbox import snapshot as module
from evalkit.sandbox.local.removal import remove_tree
from evalkit.sandbox.protocol import Entry
from evalkit.sandbox.snapshot import snapshot
from evalkit.sandbox.walk import OPEN_FOLDER

MB = 1024 * 1024


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "tree"
    root.mkdir()
    yield root
    remove_tree(root)


def taken(root: Path) -> dict[str, Entry]:
    folder = os.open(root, OPEN_FOLDER)
    try:
        return snapshot(folder, lambda uid: uid)
    finally:
        os.close(folder)


def hollow(path: Path, size: int) -> None:
    path.touch()
    os.truncate(path, size)


def test_a_file_over_the_cap_is_listed_without_a_digest(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HASHED_BYTES", 10)
    (tree / "small").write_bytes(b"x" * 10)
    (tree / "large").write_bytes(b"x" * 11)
    found = taken(tree)
    assert found["/small"].sha256 is not None
    assert (found["/large"].size, found["/large"].sha256) == (11, None)


def test_only_so_much_of_hollow_files_is_hashed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HOLLOW_BYTES", 20 * MB)
    for name in ("a", "b", "c"):
        hollow(tree / name, 10 * MB)
    (tree / "full").write_bytes(b"x" * 3 * MB)
    found = taken(tree)
    assert [found[f"/{name}"].sha256 is None for name in ("a", "b", "c", "full")] == [
        False,
        False,
        True,
        False,
    ]
    assert found["/c"].size == 10 * MB


def test_a_file_with_many_names_is_read_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "file").write_text("x")
    for number in range(9):
        os.link(tree / "file", tree / str(number))
    opened: list[str] = []
    before = module.open_file
    monkeypatch.setattr(
        module, "open_file", lambda folder, name: (opened.append(name), before(folder, name))[1]
    )
    found = taken(tree)
    assert len({entry.sha256 for entry in found.values()}) == 1
    assert len(opened) == 1


def test_a_file_that_vanishes_while_it_is_listed_is_left_out(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "gone").write_text("x")
    (tree / "there").write_text("x")
    before = module.open_file

    def vanish(folder: int, name: str) -> int:
        if name == "gone":
            os.unlink(name, dir_fd=folder)
        return before(folder, name)

    monkeypatch.setattr(module, "open_file", vanish)
    assert taken(tree).keys() == {"/there"}


def test_a_file_that_becomes_something_else_while_it_is_listed_has_no_digest(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "file").write_text("x")
    before = module.open_file

    def swap(folder: int, name: str) -> int:
        os.unlink(name, dir_fd=folder)
        os.symlink("/etc/passwd", name, dir_fd=folder)
        return before(folder, name)

    monkeypatch.setattr(module, "open_file", swap)
    assert taken(tree)["/file"].sha256 is None
