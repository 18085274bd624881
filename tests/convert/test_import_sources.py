"""What of a file is read, and what does one that cannot be read do to the others?"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

import evalkit
from evalkit.convert import json_lines
from evalkit.convert.formats import AUTO, importers
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.json_items import JsonItems
from evalkit.convert.json_lines import json_lines as lines_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError


def line(**keys):
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    return json.dumps({"messages": said, "reward": 1, **keys})


def good(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line() + "\n")
    return path


def imported(*paths, out, format_name=AUTO):
    """How many trials there are, and by file name what was refused and what is missing."""
    done = import_run(format_name, list(map(Path, paths)), out, Options())
    bad = {
        Path(report.name).name: report.refused or ", ".join(report.notes.losses) for report in done.incomplete
    }
    return len(evalkit.load(done.path).rows()), bad


def test_a_link_that_leads_to_itself_is_named(tmp_path):
    good(tmp_path / "in" / "good.jsonl")
    (tmp_path / "in" / "self").symlink_to("self")
    count, bad = imported(tmp_path / "in", tmp_path / "in" / "self", out=tmp_path / "run")
    assert count == 1
    assert "symbolic links" in bad["self"]


def test_a_link_that_may_not_be_followed_is_named(tmp_path, monkeypatch):
    good(tmp_path / "in" / "good.jsonl")
    (tmp_path / "in" / "cwd").symlink_to("elsewhere")

    def denied(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "readlink", denied)  # as of /proc/1/cwd
    count, bad = imported(tmp_path / "in", out=tmp_path / "run")
    assert (count, list(bad)) == (1, ["cwd"])


def test_a_link_to_what_is_not_there_is_named(tmp_path):
    good(tmp_path / "in" / "good.jsonl")
    (tmp_path / "in" / "annex.jsonl").symlink_to("gone")
    count, bad = imported(tmp_path / "in", out=tmp_path / "run")
    assert (count, list(bad)) == (1, ["annex.jsonl"])


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails while it is read")
@pytest.mark.parametrize("format_name", [importer.name for importer in importers(AUTO)] + [AUTO])
def test_a_file_that_fails_while_it_is_read_is_named_and_the_rest_is_there(tmp_path, format_name):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.jsonl").symlink_to("/proc/self/mem")
    both = [tmp_path / "in", good(tmp_path / "good.jsonl")]
    if format_name in {AUTO, "openai-messages"}:
        count, bad = imported(*both, out=tmp_path / "run", format_name=format_name)
        assert (count, bad) == (1, {"m.jsonl": "cannot be read: Input/output error"})
    with pytest.raises(UsageError, match=r"nothing could be imported: cannot be read: Input/output error"):
        imported(tmp_path / "in" / "m.jsonl", out=tmp_path / "none", format_name=format_name)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), MemoryError(), ValueError("odd")])
def test_what_fails_halfway_through_a_file_keeps_what_was_read(tmp_path, monkeypatch, error):
    importer = next(one for one in importers(AUTO) if one.name == "openai-messages")
    convert = type(importer).convert

    def failing(self, source, notes, options):
        yield from convert(self, source, notes, options)
        if source.name == "bad.jsonl":
            raise error

    monkeypatch.setattr(type(importer), "convert", failing)
    files = [good(tmp_path / "bad.jsonl"), good(tmp_path / "good.jsonl")]
    count, bad = imported(*files, out=tmp_path / "run")
    assert (count, list(bad)) == (2, ["bad.jsonl"])


def test_files_and_folders_that_may_not_be_read_are_named(open_folder, somebody):
    with somebody():
        good(open_folder / "in" / "good.jsonl")
        good(open_folder / "in" / "locked" / "b.jsonl")
        good(open_folder / "in" / "closed.txt").chmod(0)
        (open_folder / "in" / "locked").chmod(0)
        try:
            count, bad = imported(
                open_folder / "in", open_folder / "in" / "locked" / "b.jsonl", out=open_folder / "run"
            )
        finally:
            (open_folder / "in" / "locked").chmod(0o700)
    denied = "cannot be read: Permission denied"
    assert (count, bad) == (1, {"locked": denied, "closed.txt": denied, "b.jsonl": denied})


def test_a_folder_that_is_too_deep_is_named(tmp_path):
    good(tmp_path / "in" / "good.jsonl")
    here = os.open(tmp_path / "in", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    count, bad = imported(tmp_path / "in", out=tmp_path / "run")
    shutil.rmtree(tmp_path / "in")
    assert (count, list(bad.values())) == (1, ["cannot be read: File name too long"])


def test_a_pipe_is_not_waited_for_and_told_why(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert imported(tmp_path, good(tmp_path / "good.jsonl"), out=tmp_path / "run") == (1, {})
    with pytest.raises(UsageError, match="write what comes out of it into a file first"):
        imported(tmp_path / "pipe.jsonl", out=tmp_path / "none")


@pytest.mark.parametrize(
    "content", [b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", b"\x1f\x8bdamaged"]
)
def test_a_file_that_may_well_be_one_is_not_passed_over(tmp_path, content):
    good(tmp_path / "in" / "good.jsonl")
    (tmp_path / "in" / "other.jsonl").write_bytes(content)
    (tmp_path / "in" / "weights.bin").write_bytes(content)
    count, bad = imported(tmp_path / "in", out=tmp_path / "run")
    assert (count, list(bad)) == (1, ["other.jsonl"])


def test_a_file_name_that_is_no_text_is_imported(tmp_path):
    file = os.fsencode(tmp_path) + b"/bad\xff.jsonl"
    Path(os.fsdecode(file)).write_text(line())
    count, bad = imported(os.fsdecode(file), out=tmp_path / "run")
    assert (count, bad) == (1, {})


def test_of_a_cut_gzip_the_rows_before_the_cut_are_there(tmp_path):
    rows = "".join(line(task_id=str(number), seed=os.urandom(30).hex()) + "\n" for number in range(500))
    packed = gzip.compress(rows.encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = import_run(AUTO, [tmp_path / "cut.jsonl.gz"], tmp_path / "run", Options())
    (report,) = done.files
    assert report.refused is None
    assert 200 < report.trials < 300
    assert any("damaged or cut off" in loss for loss in report.notes.losses)


def test_of_a_cut_gzip_the_items_before_the_cut_are_there(tmp_path):
    packed = gzip.compress(json.dumps([os.urandom(30).hex() for _ in range(500)]).encode())
    (tmp_path / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    notes = Notes()
    assert 200 < len(list(JsonItems(Source(tmp_path / "cut.json.gz"), notes).items())) < 300
    assert any("damaged or cut off" in loss for loss in notes.losses)


def test_what_stands_behind_packed_data_costs_nothing(tmp_path):
    row = (line() + "\n").encode()
    (tmp_path / "junk.jsonl.gz").write_bytes(gzip.compress(row) + gzip.compress(row) + b"JUNKJUNK")
    done = import_run(AUTO, [tmp_path / "junk.jsonl.gz"], tmp_path / "run", Options())
    (report,) = done.files
    assert (report.trials, report.complete) == (2, True)
    assert "what stands behind the end of the packed data is left out" in report.notes.warnings


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_format_is_recognised_in_every_encoding_with_a_mark(tmp_path, encoding, pack):
    (tmp_path / "a.jsonl").write_bytes(pack((line(note="ä" * 40_000) + "\n" + line()).encode(encoding)))
    assert imported(tmp_path / "a.jsonl", out=tmp_path / "run") == (2, {})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_text_files(tmp_path, monkeypatch, end):
    (tmp_path / "a.jsonl").write_bytes(end.join(['{"a": "\u2028\x85"}', "", '{"a": 2}', ""]).encode())
    for size in (1, 2, 1 << 20):
        monkeypatch.setattr("evalkit.convert.source._PIECE", size)
        found = list(lines_of(Source(tmp_path / "a.jsonl"), Notes()))
        assert found == [(1, {"a": "\u2028\x85"}), (3, {"a": 2})]


def test_a_line_that_is_too_long_ends_the_file_only(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "_LONGEST", 1000)
    (tmp_path / "a.jsonl").write_text(line() + "\n" + line(note="x" * 2000) + "\n")
    monkeypatch.setattr("evalkit.convert.source._PIECE", 300)
    count, bad = imported(tmp_path / "a.jsonl", out=tmp_path / "run")
    assert (count, bad) == (1, {"a.jsonl": "line 2 is longer than 1,000 characters"})


def test_the_head_of_what_is_damaged_at_once_is_refused(tmp_path):
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(Refused, match="damaged or cut off"):
        _ = Source(tmp_path / "a.gz").head
