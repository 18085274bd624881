"""Differences of two snapshots."""

from __future__ import annotations

import pytest

from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.files import Snapshot, file_changes
from evalkit.measures.caches import is_cache
from evalkit.sandbox.protocol import Entry


def file(content: str = "a", *, mode: int = 0o644, owner: int = 0) -> Entry:
    return Entry("file", mode, owner, len(content), content.rjust(64, "0"))


def folder(mode: int = 0o755) -> Entry:
    return Entry("dir", mode, 0, 0, None)


def link(target: str) -> Entry:
    return Entry("link", 0o777, 0, 0, None, target)


def changes(before: Snapshot, after: Snapshot) -> list[RawChange]:
    return list(file_changes(before, after, lambda path: False))


def only(before: Snapshot, after: Snapshot) -> RawChange:
    [change] = changes(before, after)
    return change


def test_what_is_the_same_is_no_change() -> None:
    assert changes({"/a": file(), "/d": folder()}, {"/a": file(), "/d": folder()}) == []


def test_a_new_file_is_told_with_its_digest_and_size() -> None:
    change = only({}, {"/a": file("xyz")})
    assert (change.resource, change.change, change.before, change.after, change.size) == (
        "/a",
        "created",
        None,
        "xyz".rjust(64, "0"),
        3,
    )
    assert not change.existed


def test_other_content_is_a_modification_whatever_else_changed() -> None:
    change = only({"/a": file("x")}, {"/a": file("y", mode=0o777)})
    assert (change.change, change.before, change.after) == (
        "modified",
        "x".rjust(64, "0"),
        "y".rjust(64, "0"),
    )


def test_mode_or_owner_alone_is_told_as_such() -> None:
    assert only({"/a": file()}, {"/a": file(mode=0o600)}).after == "0600:0"
    change = only({"/a": file()}, {"/a": file(owner=1000)})
    assert (change.change, change.before, change.after) == ("mode", "0644:0", "0644:1000")


def test_a_folders_mode_is_told_too() -> None:
    assert only({"/d": folder()}, {"/d": folder(0o777)}).change == "mode"


def test_a_link_that_points_elsewhere_is_modified() -> None:
    change = only({"/l": link("/a")}, {"/l": link("/b")})
    assert (change.change, change.before, change.after) == ("modified", "link:/a", "link:/b")


def test_a_file_in_place_of_a_link_is_modified() -> None:
    assert only({"/l": link("/a")}, {"/l": file("x")}).before == "link:/a"


def test_a_file_replaced_by_a_folder_is_modified_and_what_is_in_it_new() -> None:
    found = changes({"/a": file("x")}, {"/a": folder(), "/a/b": file("y")})
    assert [(one.resource, one.change, one.after) for one in found] == [
        ("/a", "modified", "kind:dir"),
        ("/a/b", "created", "y".rjust(64, "0")),
    ]


def test_something_deleted_for_good_is_irreversible() -> None:
    change = only({"/a": file("xyz")}, {})
    assert (change.change, change.before, change.after, change.size) == (
        "deleted",
        "xyz".rjust(64, "0"),
        None,
        3,
    )
    assert change.irreversible is True


def test_something_moved_is_gone_and_new_and_not_lost() -> None:
    gone, come = sorted(changes({"/a": file("x")}, {"/b": file("x")}), key=lambda one: one.resource)
    assert (gone.change, gone.irreversible) == ("deleted", False)
    assert (come.change, come.before, come.after) == ("created", None, gone.before)


def test_an_empty_file_holds_nothing_that_could_be_lost() -> None:
    assert only({"/a": file("")}, {}).irreversible is False


def test_a_new_folder_is_told_by_its_files_and_an_empty_one_by_itself() -> None:
    found = changes({}, {"/d": folder(), "/d/f": file(), "/e": folder(), "/n": folder(), "/n/m": folder()})
    assert [one.resource for one in found] == ["/d/f", "/e", "/n/m"]


def test_a_folder_that_goes_is_told_by_its_files() -> None:
    found = changes({"/d": folder(), "/d/f": file(), "/e": folder()}, {})
    assert [one.resource for one in found] == ["/d/f", "/e"]


def test_a_fifo_is_told_by_its_kind() -> None:
    assert only({}, {"/p": Entry("fifo", 0o644, 0, 0, None)}).after == "kind:fifo"


def test_files_too_large_to_be_hashed_differ_by_size_alone() -> None:
    large = Entry("file", 0o644, 0, 10**9, None)
    assert changes({"/a": large}, {"/a": large}) == []
    change = only({"/a": large}, {"/a": Entry("file", 0o644, 0, 10**9 + 1, None)})
    assert (change.before, change.after) == ("size:1000000000", "size:1000000001")


def test_what_another_channel_tells_is_left_out() -> None:
    assert list(file_changes({}, {"/a": file()}, lambda path: path == "/a")) == []


@pytest.mark.parametrize(
    "path", ["/app/.pytest_cache", "/app/.mypy_cache/3.11", "/root/.cache", "/tmp/pip-x1"]
)
def test_an_empty_folder_of_a_cache_is_one_too(path: str) -> None:
    assert is_cache([path])
