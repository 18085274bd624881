"""Where may an import put its run, and what is left where one was killed?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evalkit
from evalkit.convert import destination, importing
from evalkit.errors import UsageError
from evalkit.trajectory.locate import latest_run, new_run_path


def good(path, **keys):
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    path.write_text(json.dumps({"messages": said, "reward": 1, **keys}) + "\n")
    return str(path)


@pytest.fixture
def file(folder):
    return good(folder / "good.jsonl", task_id="a")


KILLED = """
import os, signal, sys; from pathlib import Path
from evalkit.convert import importing
importing.BulkTrials.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
importing.import_run("auto", [Path(sys.argv[1])], None, importing.Options())
"""


def test_a_killed_import_is_no_run_and_the_next_one_sweeps_it(command, folder, file):
    assert command("import", "auto", file).code == 0
    (run,) = os.listdir("runs")
    done = subprocess.run([sys.executable, "-c", KILLED, file], check=False)
    assert done.returncode == -9
    (left,) = (name for name in os.listdir("runs") if name != run)
    assert left.startswith(".")
    assert (folder / "runs" / left / "run.json").is_file()
    assert latest_run() == Path("runs") / run
    assert len(evalkit.load("latest").rows()) == 1
    assert command("import", "auto", file).code == 0
    assert left not in os.listdir("runs")
    assert len(os.listdir("runs")) == 2


def test_an_import_that_is_under_way_is_neither_latest_nor_swept(command, folder, file, monkeypatch):
    assert command("import", "auto", file).code == 0
    write = importing.BulkTrials.write
    seen = []

    def look(bulk, *attempts):
        seen.append((latest_run().name, sorted(os.listdir("runs"))))
        if len(seen) == 1:
            assert command("import", "auto", file, "--out", "runs/other").code == 0
            assert set(seen[0][1]) < set(os.listdir("runs"))
        write(bulk, *attempts)

    monkeypatch.setattr(importing.BulkTrials, "write", look)
    assert command("import", "auto", file, "--out", "runs/mine").code == 0
    assert not seen[0][0].startswith(".")
    assert {"mine", "other"} < set(os.listdir("runs"))


def test_only_leftovers_of_imports_are_swept(command, folder, file):
    names = (
        ".mine.0123456x.import",
        ".git",
        "mine.01234567.import",
        ".file.01234567.import",
        ".new.01234567.import",
    )
    (folder / ".file.01234567.import").write_text("")
    for name in names[:3] + names[4:]:
        (folder / name).mkdir()
    assert command("import", "auto", file, "--out", "run").code == 0
    assert set(names) <= set(os.listdir(folder))
    os.utime(folder / names[4], (1, 1))
    assert command("import", "auto", file, "--out", "run2").code == 0
    assert set(names) - set(os.listdir(folder)) == {names[4]}


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("latest", "stands for the newest"),
        ("s3://bucket/x", "written to a local folder"),
        ("bad\udcff", "no valid text"),
        ("~nobody-of-this-name/x", "nobody's home folder"),
        ("dangling", "a link that leads nowhere"),
        (".", "this folder is not empty"),
        ("new/..", "this folder is not empty"),
    ],
)
def test_what_is_no_place_for_a_run_is_refused(command, folder, file, out, message):
    (folder / "dangling").symlink_to("gone")
    before = sorted(os.listdir(folder))
    said = command("import", "auto", file, "--out", out)
    assert (said.code, message in said.err) == (2, True), said.err
    assert sorted(os.listdir(folder)) == before


def test_the_empty_folder_that_one_is_in_is_refused(command, folder, file, monkeypatch):
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder / "empty")
    said = command("import", "auto", file, "--out", ".")
    assert (said.code, "the folder that you are in" in said.err) == (2, True)
    assert os.listdir(folder / "empty") == []


def test_a_quoted_home_is_the_home(command, folder, file, monkeypatch):
    monkeypatch.setenv("HOME", str(folder / "home"))
    assert command("import", "auto", file, "--out", "~/x").code == 0
    assert len(evalkit.load(folder / "home" / "x").rows()) == 1
    assert not (folder / "~").exists()


def test_a_link_to_an_empty_folder_is_filled(command, folder, file):
    (folder / "disk").mkdir()
    (folder / "run").symlink_to("disk")
    assert command("import", "auto", file, "--out", "run").code == 0
    assert (folder / "run").is_symlink()
    assert (folder / "disk" / "run.json").is_file()


def test_a_name_as_long_as_a_name_may_be_is_taken(command, folder, file):
    assert command("import", "auto", file, "--out", "r" * 255).code == 0


def test_a_name_that_nobody_chose_makes_way(folder, file, monkeypatch):
    class Stopped(destination.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 1, 2, tzinfo=tz)

    monkeypatch.setattr(destination, "datetime", Stopped)
    write = importing.BulkTrials.write
    runs = []

    def another_meanwhile(bulk, *attempts):
        if not runs:
            runs.append(None)
            runs[0] = importing.import_run("auto", [Path(file)], None, importing.Options())
        write(bulk, *attempts)

    monkeypatch.setattr(importing.BulkTrials, "write", another_meanwhile)
    runs.append(importing.import_run("auto", [Path(file)], None, importing.Options()))
    runs.append(importing.import_run("auto", [Path(file)], None, importing.Options()))
    assert [run.path.name for run in runs] == [f"20260102-000000-auto{end}" for end in ("", "-2", "-3")]
    assert sorted(os.listdir("runs")) == sorted(run.path.name for run in runs)


@pytest.mark.parametrize("out", ["latest", "s3://bucket/x"])
def test_no_other_run_is_made_there_either(command, folder, out):
    said = command("run", "core", "--model", "scripted/oracle", "--out", out)
    assert said.code == 2, said.err
    assert os.listdir(folder) == []


def test_a_path_that_was_a_uri_is_one():
    for text in ("s3://bucket/x", "gs://bucket"):
        with pytest.raises(UsageError, match="local folder"):
            new_run_path(Path(text))
    assert new_run_path(Path("file:///tmp/x")) == new_run_path("file:///tmp/x") == Path("/tmp/x")
    assert new_run_path(Path("a:b/c")) == Path("a:b/c")


def test_the_command_that_failures_show_finds_the_trial(command, folder):
    file = good(folder / "odd.jsonl", task_id="it's\x1b[31m\u202e", reward=0)
    assert command("import", "auto", file, "--out", "run").code == 0
    (trial,) = evalkit.load("run").rows()
    (line,) = (
        line for line in command("show", "run", "--failures").out.splitlines() if "evalkit show" in line
    )
    assert "\x1b" not in line
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {line.partition('show ')[2]}"],
        check=True,
        capture_output=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    assert words.stdout.decode().splitlines() == ["run", trial.trial_id]
