"""A report goes where it was asked to, whole, and nowhere else."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from evalkit.cli.report import report
from evalkit.errors import ConfigError, UsageError
from evalkit.report import target as target_module
from evalkit.report.target import size_text, target_of


@pytest.fixture
def run(tmp_path, small_run):
    return small_run(tmp_path / "runs" / "r")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("out", ["", " ", "-", ".html", "board.txt", "board.html.bak", "v1.2", "a\0b.html"])
def test_what_is_no_name_of_a_report_is_refused(out, here):
    with pytest.raises(UsageError, match=r"\.html, \.md or \.csv, or a folder"):
        target_of(out)
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("out", "kind"),
    [("a.html", "page"), ("a.HTM", "page"), ("a.md", "markdown"), ("a.csv", "csv"), ("board", "folder"),
     ("board/", "folder"), ("v1.2/", "folder"), ("x.html/", "folder"), (".", "folder"), ("..", "folder")],
)  # fmt: skip
def test_the_ending_says_what_it_is(out, kind):
    assert target_of(out).kind == kind


@pytest.mark.parametrize("inside", ["", "x.html", "scores", "trials/board/"])
def test_the_record_of_a_run_is_no_place_for_a_report(run, inside):
    before = sorted(run.rglob("*"))
    with pytest.raises(UsageError, match="record of a run"):
        report([str(run)], out=f"{run}/{inside}")
    assert sorted(run.rglob("*")) == before


def test_nor_is_it_by_way_of_a_link(run, here):
    (here / "link").symlink_to(run)
    with pytest.raises(UsageError, match="record of a run"):
        target_of("link")


def test_a_folder_in_place_of_a_file_and_a_file_in_place_of_a_folder_are_named(here):
    (here / "a.html").mkdir()
    (here / "b").write_text("")
    with pytest.raises(UsageError, match=r"^a\.html: this is a folder") as told:
        target_of("a.html")
    assert "--out a.html/" in str(told.value)
    with pytest.raises(UsageError, match=r"^b: this is a file"):
        target_of("b")


@pytest.mark.parametrize("out", ["b/x.html", "b/x/"])
def test_what_cannot_be_written_names_what_was_asked_for_and_speaks_of_the_report(run, here, out):
    (here / "b").write_text("")
    with pytest.raises(
        UsageError, match=f"^{out}: cannot write the report: a file is where a folder"
    ) as told:
        report([str(run)], out=out)
    assert "--out" in (told.value.hint or "")


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_no_trials_without_a_page(run, here, monkeypatch):
    monkeypatch.setattr(target_module, "write_text", full_disk)
    with pytest.raises(UsageError, match="cannot write the report: No space") as told:
        report([str(run)], out="deep/board")
    assert told.value.hint == "Free some space on that disk, then make the report again."
    assert not list(here.iterdir())


def test_a_report_that_was_there_stays_whole_where_the_new_one_fails(run, here):
    report([str(run)], out="board")
    before = {path: path.read_bytes() for path in Path("board").rglob("*") if path.is_file()}
    (here / "reports").mkdir()
    (here / "reports" / "leaderboard.html.j2").write_text("{{ 1/0 }}")
    with pytest.raises(ConfigError):
        report([str(run)], out="board")
    assert {path: path.read_bytes() for path in Path("board").rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in Path("board").iterdir()) == ["index.html", "trials"]


def test_a_smaller_report_leaves_no_trials_of_a_larger_one(run):
    Path("board/trials").mkdir(parents=True)
    Path("board/trials/0007.js").write_text("old")
    Path("board/trials/mine.js").write_text("kept")
    report([str(run)], out="board")
    assert sorted(path.name for path in Path("board/trials").iterdir()) == ["0000.js", "mine.js"]


@pytest.mark.parametrize(
    ("size", "told"),
    [(0, "0 bytes"), (425, "425 bytes"), (1_300, "1.3 kB"), (421_841, "422 kB"), (5_250_000, "5.2 MB")],
)
def test_sizes_are_told_as_they_are(size, told):
    assert size_text(size) == told


def test_what_a_board_does_not_cover_is_said_in_the_terminal_too(run, tmp_path, small_run, capsys):
    other = small_run(tmp_path / "runs" / "other", agent="b", tasks=1)
    report([str(run), str(other), f"{run}/"], out="board.md")
    told = capsys.readouterr().err
    assert "under another name, and counts once" in told
    assert "is not scored" in told
    assert "1 of 3 tasks are common to all" in told


def test_where_no_browser_is_that_is_said(run, monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    report([str(run)], out="board.html", open_=True)
    assert "no browser was found here; open it yourself" in capsys.readouterr().err
