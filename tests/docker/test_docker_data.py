"""What the engine sends is data that may be hostile, cut anywhere. No engine is needed for these."""

from __future__ import annotations

import contextlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox.docker import looking
from evalkit.sandbox.docker.answers import Anatomy
from evalkit.sandbox.docker.complaint import translated
from evalkit.sandbox.docker.container import owner_of
from evalkit.sandbox.docker.delivery import _Taking
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.listing import _Plan, _Reading
from evalkit.sandbox.docker.transfer import Download, Member, Owner, Upload
from evalkit.sandbox.docker.watchdog import Watchdog
from evalkit.sandbox.docker.wire import Wire
from evalkit.sandbox.docker.workspace import listing_of
from evalkit.sandbox.protocol import Captured, Entry, ExecResult
from evalkit.trajectory.artifacts import ArtifactStore


def tar_with(name: str, kind: bytes = tarfile.REGTYPE, linkname: str = "") -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, linkname
        tar.addfile(info)
    out.seek(0)
    return out


def test_what_is_packed_is_read_again_at_the_path_that_was_asked_for() -> None:
    upload = Upload()
    upload.folder("out", 0o750, Owner(7, 8))
    upload.data("out/\udcff\n", 0o600, Owner(), b"data")
    upload.link("out/link", "../x", Owner())
    found = [
        (one.path, one.kind, one.mode, one.owner, one.target, one.content.read() if one.content else None)
        for one in Download(upload.finished(), "/app/out")
    ]
    assert found == [
        ("/app/out", "dir", 0o750, 7, None, None),
        ("/app/out/\udcff\n", "file", 0o600, 0, None, b"data"),
        ("/app/out/link", "link", 0o777, 0, "../x", None),
    ]


def test_an_archive_whose_paths_climb_is_refused() -> None:
    with pytest.raises(SandboxError, match="climbs"):
        list(Download(tar_with("out/../../etc/x"), "/app/out"))


@pytest.mark.parametrize("name", ["/etc/passwd", "etc/passwd"])
def test_an_absolute_name_stays_below_what_was_asked_for(name: str) -> None:
    [member] = Download(tar_with(name), "/app/out")
    assert member.path == "/app/etc/passwd"


def test_an_archive_that_is_cut_off_is_an_error() -> None:
    upload = Upload()
    upload.data("file", 0o600, Owner(), b"x" * 100_000)
    whole = cast("io.BytesIO", upload.finished()).getvalue()
    with pytest.raises(SandboxError, match="broken archive"), translated("read"):
        for member in Download(io.BytesIO(whole[:50_000]), "/app/file"):
            if member.content:
                member.content.read()
    with pytest.raises(SandboxError, match="broken archive"):
        list(Download(io.BytesIO(b"no archive" * 100), "/app/file"))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"])
def test_what_is_no_file_folder_or_link_is_no_deliverable(tmp_path: Path, kind: bytes) -> None:
    taking = _Taking(["/app/out"], ArtifactStore(tmp_path))
    [member] = Download(tar_with("out/x", kind), "/app/out")
    with pytest.raises(DeliverableRefused):
        taking.take(member)


def test_a_hard_link_to_what_is_not_taken_is_no_deliverable(tmp_path: Path) -> None:
    taking = _Taking(["/app/out"], ArtifactStore(tmp_path))
    [member] = Download(tar_with("out/x", tarfile.LNKTYPE, "etc/passwd"), "/app/out")
    with pytest.raises(DeliverableRefused, match="hard link"):
        taking.take(member)


FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=12)


@given(FRAMES, st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_frames_are_told_apart_however_they_are_cut(frames: list[tuple[int, bytes]], cuts: list[int]) -> None:
    wire = Wire()
    sent = b"".join(bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data for stream, data in frames)
    at = 0
    while at < len(sent):
        for cut in cuts:
            wire.data_received(sent[at : at + cut])
            at += cut
    for number, name in ((1, "stdout"), (2, "stderr")):
        received = b"".join(data for stream, data in wire._chunks if stream == name)
        assert received == b"".join(data for stream, data in frames if stream == number)


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.sets(PATHS, min_size=1, max_size=12), st.dictionaries(PATHS, st.integers(0, 10**8), max_size=12))
def test_every_changed_path_is_read_and_none_twice(changed: set[str], image: dict[str, int]) -> None:
    base = {path: Entry("file", 0o644, 0, size, None) for path, size in image.items()}
    reads = _Plan(changed, base).reads()
    whole = [path for path, all_below in reads if all_below]
    for path in changed:
        above = [root for root in whole if path == root or path.startswith(root + "/")]
        assert len(above) + reads.count((path, False)) == 1
    assert not [one for one in whole for other in whole if one != other and one.startswith(other + "/")]


def test_storage_that_was_complained_about_is_tolerated_until_it_grows() -> None:
    async def over(note: str) -> None: ...
    async def idle() -> None: ...

    engine = cast("Engine", SimpleNamespace(version=SimpleNamespace(data=None)))
    watchdog = Watchdog(engine, "name", 1, over=over, lost=lambda problem: None, idle=idle)
    mb = 1024 * 1024
    assert [watchdog.is_over(size) for size in (mb, mb + 1, mb + 1, mb + 2, mb, mb + 1)] == [
        *(False, True, False, True, False, True),
    ]


@pytest.mark.parametrize("label", ["", "text", "[]", "{}", '{"pid": "x", "started": null, "host": "h"}', "1"])
def test_a_label_that_is_not_ours_has_no_owner(label: str) -> None:
    assert owner_of(label) is None


def test_members_of_a_container_are_told_from_what_only_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, scope = "0123abcd" * 8, "0::/machine.slice/libpod-"
    groups = {
        10: f"{scope}{name}.scope/container",
        11: f"{scope}{name}.scope/container",
        12: f"{scope}{name}.scope/container/deeper",
        13: f"{scope}conmon-{name}.scope",
        14: f"{scope}{'f' * 64}.scope/container",
    }
    for pid, group in groups.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(f"1:name=systemd:/\n{group}\n")
    (tmp_path / "15").mkdir()
    (tmp_path / "sys").mkdir()
    monkeypatch.setattr(looking, "PROC", tmp_path)
    here = Anatomy(name, 10, (), "crun", ())
    assert sorted(looking.members(here)) == [10, 11, 12]
    assert [
        looking.is_here(one) for one in (here, replace(here, runtime="runsc"), replace(here, first=14))
    ] == [
        *(True, False, False),
    ]


@pytest.mark.parametrize(("files", "calls"), [(10, 1 + 1 + 11 + 1), (1000, 1)])
def test_a_huge_file_is_read_past_where_that_is_less_than_a_call_for_each_of_its_neighbours(
    files: int, calls: int
) -> None:
    def member(path: str, size: int = 1) -> Member:
        return Member(path, "dir" if path == "/app" else "file", 0o644, 0, size, None, None, None)

    asked: list[str] = []
    whole = [
        member("/app"),
        *(member(f"/app/{number}") for number in range(files)),
        member("/app/z", 2 * 1024**3),
    ]

    @contextlib.contextmanager
    def download(container: str, path: str) -> Iterator[Iterator[Member]]:
        asked.append(path)
        yield iter(whole if path == "/app" else [one for one in whole if one.path == path])

    engine = cast("Engine", SimpleNamespace(download=download))
    entries: dict[str, Entry] = {}
    reading = _Reading(engine, "name", entries, sorted(one.path for one in whole))
    reading.read("/app")
    assert entries.keys() == {one.path for one in whole}
    assert (len(asked), entries["/app/z"].size) == (calls, 2 * 1024**3)


def listed(data: bytes, *, exit_code: int = 0, truncated: bool = False) -> ExecResult:
    return ExecResult(exit_code, Captured(data, len(data), truncated), Captured(b"", 0, False), 0.1)


ZONES = ["2026-11-30 12:43:18.123456789 +0000", "2026-11-30 12:43:18.000000000"]


@pytest.mark.parametrize("time", ZONES, ids=["with a time zone", "older busybox"])
def test_a_listing_by_stat_is_told_path_by_path_whatever_they_are_called(time: str) -> None:
    names = [b".", b"./plain", b"./two\nlines|1 2", b"./no \xff UTF-8"]
    rows = b"".join(name + f"|7 {time} {time} 99 81a4 0\n".encode() for name in names)
    found = listing_of(listed(rows), "/app")
    assert found == dict.fromkeys(
        ["/app", "/app/plain", "/app/two\nlines|1 2", "/app/no \udcff UTF-8"], f"7 {time} {time} 99 81a4 0"
    )


def test_a_listing_by_gnu_find_is_told_path_by_path() -> None:
    found = listing_of(listed(b".\x007 1.5 1.5 9 755 0 d\0\0./a\nb\x001 1.5 1.5 8 644 0 f\0\0"), "/")
    assert found == {"/": "7 1.5 1.5 9 755 0 d", "/a\nb": "1 1.5 1.5 8 644 0 f"}


def test_a_listing_that_could_not_be_made_is_none_and_of_no_folder_is_empty() -> None:
    row = b".\x007 1 1 9 755 0 d\0\0"
    assert listing_of(listed(b"", exit_code=3), "/app") == {}
    assert listing_of(listed(b"", exit_code=4), "/app") is None
    assert listing_of(listed(row, truncated=True), "/app") is None
    assert listing_of(listed(row * 20_001), "/app") is None
    assert listing_of(listed(b""), "/app") is None
