"""Does a run made by someone else stay within its own folder, whatever it holds?"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.artifacts import ArtifactStore
from evalkit.trajectory.layout import journal_file
from evalkit.trajectory.owner import read_owner
from evalkit.trajectory.reader import load
from evalkit.trajectory.recovery import recover
from evalkit.trajectory.score_files import write_scores
from evalkit.trajectory.writer import RunWriter

HEADER = {"run_id": "run-1", "trial_id": "t9", "suite": "core", "task_id": "x", "epoch": 1, "agent": "m"}
KEY = "t9-0123456789abcdef"
OURS = (
    f"part-000001-{KEY}.parquet",
    f".part-000001-{KEY}.parquet.01234567.tmp",
    f"{KEY}.jsonl",
    ".part-abcdefgh",
)
THEIRS = ("part-000001-precious.parquet", ".notes.tmp", "data.jsonl", ".part-x")


@pytest.fixture
def run(writer, make_trial, steps):
    """A finished run of one trial, in parts."""
    writer.commit(make_trial("t1"), steps)
    writer.close()
    return writer.path


@pytest.fixture
def victim(tmp_path):
    """A folder of someone's files, some of them under names as ours."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in (*OURS, *THEIRS):
        (folder / name).write_text("precious")
    return folder


def everything(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("name", ["trials", "steps", "effects", "scores", "journal", "artifacts"])
def test_nothing_is_deleted_or_written_through_a_linked_folder(run, victim, manifest, name):
    before = everything(victim)
    shutil.rmtree(run / name)
    (run / name).symlink_to(victim)
    for change in (recover, RunWriter.open):
        with pytest.raises(UsageError, match="link") as refused:
            change(run)
        assert refused.value.where == str(run / name)
    assert everything(victim) == before


@pytest.mark.parametrize("name", ["trials", "steps", "effects", "journal"])
def test_a_folder_that_becomes_a_link_is_not_written_to(writer, make_trial, steps, victim, name):
    before = everything(victim)
    shutil.rmtree(writer.path / name)
    (writer.path / name).symlink_to(victim)
    with pytest.raises(UsageError, match="link"):
        writer.begin("t1", HEADER | {"trial_id": "t1"})
        writer.commit(make_trial("t1"), steps)
    assert everything(victim) == before


def test_scores_are_not_written_through_a_link(run, victim):
    shutil.rmtree(run / "scores")
    (run / "scores").symlink_to(victim)
    with pytest.raises(UsageError, match="link"):
        write_scores(run, [], scorers=["a"])


def test_a_linked_table_is_not_read(run, victim):
    shutil.rmtree(run / "steps")
    (run / "steps").symlink_to(victim)
    with pytest.raises(UsageError, match="link"):
        load(run)


def test_artifacts_are_neither_kept_nor_read_through_links(tmp_path):
    outside = tmp_path / "outside"
    digest, _ = ArtifactStore(outside).put(io.BytesIO(b"secret"))
    linked = tmp_path / "linked"
    linked.symlink_to(outside)
    partly = tmp_path / "partly"
    partly.mkdir()
    (partly / digest[:2]).symlink_to(outside / digest[:2])
    single = tmp_path / "single"
    (single / digest[:2]).mkdir(parents=True)
    (single / digest[:2] / digest[2:]).symlink_to(outside / digest[:2] / digest[2:])
    for root in (linked, partly, single):
        with pytest.raises(UsageError, match="link"):
            ArtifactStore(root).open(digest)
    for root in (linked, partly):
        with pytest.raises(UsageError, match="link"):
            ArtifactStore(root).put(io.BytesIO(b"secret"))


def test_a_link_among_the_artifacts_is_refused_before_anything_is_written(run, victim):
    (run / "artifacts" / "inspect").symlink_to(victim)
    with pytest.raises(UsageError, match="link"):
        RunWriter.open(run)


def test_files_that_are_not_under_our_names_are_left_alone(run):
    for folder in ("steps", "journal", "artifacts", "."):
        for name in THEIRS:
            if not (folder == "steps" and name.endswith(".parquet")):
                (run / folder / name).write_text("precious")
    before = everything(run)
    recover(run)
    assert everything(run) == before


def test_leftovers_under_our_names_go(run):
    for folder, name in zip(("steps", "trials", "journal", "artifacts"), OURS, strict=True):
        (run / folder / name).write_bytes(b"")
    recover(run)
    names = {path.name for path in run.rglob("*")}
    assert not names & set(OURS)


@pytest.mark.parametrize(
    "header",
    [
        {**HEADER, "skills": 5},
        {**HEADER, "skills": [5]},
        {**HEADER, "suite": 5},
        {**HEADER, "started_at": 5},
        {**HEADER, "started_at": "2024-01-01T00:00:00"},
        {**HEADER, "started_at": "0001-01-01T00:00:00+23:00"},
        {**HEADER, "attempt": 2.0},
        {**HEADER, "epoch": True},
        {**HEADER, "epoch": 10**30},
        {**HEADER, "temperature": 10**400},
        {**HEADER, "trial_id": "another"},
        {**HEADER, "sandbox": {}},
        [1, 2],
        [["run_id", "r"]],
        "text",
        None,
    ],
)
def test_a_journal_with_an_odd_header_is_kept_aside_and_counts_nothing(run, header):
    journal = journal_file(run, "t9")
    journal.write_text(json.dumps(header) + "\n")
    data = journal.read_bytes()
    assert [recover(run), recover(run)] == [0, 0]
    assert everything(run / "journal") == {f"{journal.name}.bad": data}
    assert [trial.trial_id for trial in load(run).rows()] == ["t1"]


def test_a_journal_set_aside_replaces_no_earlier_one(run):
    for text in ("first\n", "second\n", "third\n"):
        journal_file(run, "t9").write_text(text)
        recover(run)
    assert sorted(everything(run / "journal").values()) == [b"first\n", b"second\n", b"third\n"]


@pytest.fixture(params=["pipe", "link", "folder", "socket"])
def odd(request, tmp_path):
    """Put something that is no regular file at a path."""
    outside = tmp_path / "outside"
    outside.write_text("precious\n")
    with contextlib.ExitStack() as stack:

        def put(path: Path) -> None:
            if request.param == "pipe":
                os.mkfifo(path)
            elif request.param == "link":
                path.symlink_to(outside)
            elif request.param == "folder":
                path.mkdir()
            else:
                bound = stack.enter_context(socket.socket(socket.AF_UNIX))
                stack.enter_context(contextlib.chdir(path.parent))
                bound.bind(path.name)

        yield put
    assert outside.read_text() == "precious\n"


def test_a_journal_that_is_no_file_is_set_aside_unread(run, odd):
    odd(journal_file(run, "t9"))
    assert recover(run) == 0
    assert [path.name for path in (run / "journal").iterdir()] == [f"{journal_file(run, 't9').name}.bad"]


@pytest.mark.parametrize("table", ["trials", "steps", "scores"])
def test_a_parquet_file_that_is_no_file_is_named_and_not_waited_for(run, odd, table):
    path = run / table / (f"scores-{KEY}.parquet" if table == "scores" else OURS[0])
    odd(path)
    with pytest.raises(ConfigError, match="link, pipe or folder") as refused:
        load(run)
    assert refused.value.where == str(path)


def test_a_part_of_trials_that_is_no_file_is_refused_by_the_writer(run, odd):
    odd(run / "trials" / OURS[0])
    with pytest.raises(ConfigError, match="link, pipe or folder"):
        RunWriter.open(run)


def test_an_owner_that_is_no_file_is_refused(run, odd):
    odd(run / "owner.json")
    with pytest.raises(ConfigError, match="link, pipe or folder"):
        read_owner(run)
    if (run / "owner.json").is_dir():
        (run / "owner.json").rmdir()


@pytest.mark.parametrize("pid", [2**70, 0, -1, "5", 1.0, True, [1]])
def test_an_owner_that_no_process_can_be_is_nobody(run, pid):
    (run / "owner.json").write_text(json.dumps({"pid": pid, "started": None, "host": socket.gethostname()}))
    recover(run)
    assert not (run / "owner.json").exists()


def test_a_run_whose_description_is_a_link_is_not_read(run, tmp_path):
    (run / "run.json").rename(tmp_path / "elsewhere.json")
    (run / "run.json").symlink_to(tmp_path / "elsewhere.json")
    for read in (load, RunWriter.open):
        with pytest.raises(UsageError, match="link"):
            read(run)


def test_a_trial_that_is_there_twice_names_both_files(run):
    file = next((run / "trials").iterdir())
    extra = file.name.replace("000001", "000002")
    shutil.copy(file, run / "trials" / extra)
    for read in (
        lambda: load(run).rows(),
        lambda: list(load(run).iter_trials()),
        lambda: RunWriter.open(run),
    ):
        with pytest.raises(ConfigError, match="twice") as refused:
            read()
        told = str(refused.value)
        assert file.name in told
        assert extra in told


@pytest.mark.parametrize("table", ["trials", "steps", "effects", "scores"])
@pytest.mark.parametrize("name", ["extra.parquet", "part-000001 (copy).parquet", "compact-1.parquet"])
def test_a_file_that_evalkit_did_not_name_is_refused_and_not_counted(run, table, name):
    shutil.copy(next((run / "trials").iterdir()), run / table / name)
    before = everything(run)
    for read in (load,) if table == "scores" else (load, RunWriter.open):
        with pytest.raises(ConfigError, match="not a file that evalkit wrote") as refused:
            read(run)
        assert refused.value.where == str(run / table / name)
    assert everything(run) == before


def test_a_part_under_the_name_of_another_trial_is_named(run):
    file = next((run / "trials").iterdir())
    file.rename(file.with_name(f"part-000001-{KEY}.parquet"))
    with pytest.raises(ConfigError, match="does not belong"):
        load(run).rows()


def test_steps_that_are_there_twice_name_both_files(run):
    file = next((run / "steps").iterdir())
    shutil.copy(file, run / "steps" / "compact-000000.parquet")
    for read in (lambda: load(run).trial("t1"), lambda: list(load(run).iter_trials())):
        with pytest.raises(ConfigError, match="twice") as refused:
            read()
        assert "compact-000000.parquet" in refused.value.where
        assert file.name in refused.value.where


def test_a_damaged_large_file_does_not_cost_the_small_ones(run):
    (run / "trials" / "compact-000001.parquet").write_bytes(b"cut off")
    before = everything(run / "trials")
    with pytest.raises(ConfigError, match="cannot be read"):
        recover(run)
    assert everything(run / "trials") == before


def test_a_finished_run_is_not_touched(run):
    def times():
        return {path: path.lstat().st_ctime_ns for path in (run, *run.rglob("*"))}

    before = times()
    assert recover(run) == 0
    assert times() == before


def as_nobody(run, code):
    """What Python says as a user who may read the run, and not write it."""
    script = (
        f"import sys; from evalkit.trajectory.recovery import recover; import os; os.setuid(65534); {code}"
    )
    return subprocess.run(
        [sys.executable, "-c", script, str(run)], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def open_to_read(run, tmp_path):
    for path in (run, *run.parents):
        if path.is_relative_to(tmp_path):
            path.chmod(0o755)
    for closed in itertools.takewhile(lambda path: not path.stat().st_mode & 0o001, tmp_path.parents):
        closed.chmod(0o755)
    return run


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@needs_root
@pytest.mark.parametrize("left", [None, "owner.json", "steps/" + OURS[0]])
def test_a_run_of_another_user_needs_no_recovery(open_to_read, bury, left):
    if left is not None:
        (open_to_read / left).write_text("{}")
    done = as_nobody(open_to_read, "print(recover(sys.argv[1]))")
    assert (done.stdout, done.stderr) == ("0\n", "")


@needs_root
def test_trials_in_flight_of_another_user_are_one_clear_error(open_to_read):
    journal_file(open_to_read, "t9").write_text(json.dumps(HEADER) + "\n")
    done = as_nobody(open_to_read, "recover(sys.argv[1])")
    assert "UsageError" in done.stderr
    assert "Permission denied" in done.stderr
    assert journal_file(open_to_read, "t9").exists()
