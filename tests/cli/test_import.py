"""What does `evalkit import` do with good files, bad files and no files at all?"""

from __future__ import annotations

import gzip
import json
import os

import pytest

import evalkit
from evalkit.convert import importing


def line(**keys):
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    return json.dumps({"messages": said, **keys})


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_run_is_made_scored_and_shown(command, folder):
    write(
        folder / "mine.jsonl", line(task_id="a", reward=1), line(task_id="b", reward=0, model="openai/gpt-5")
    )
    said = command("import", "openai-messages", "mine.jsonl", "--out", "run")
    assert said.code == 0, said.err
    assert "2 trials out of 1 files (openai-messages) are now the run run" in said.err
    run = evalkit.load("run")
    assert {(t.suite, t.task_id, t.agent, t.status, t.reward) for t in run.rows()} == {
        ("mine", "a", "unknown", "passed", 1.0),
        ("mine", "b", "openai/gpt-5", "failed", 0.0),
    }
    assert {t.source for t in run.rows()} == {"openai-messages"}
    assert any(row["metric"] == "success" for row in run.scores.to_table().to_pylist())
    assert command("show", "run").code == 0
    assert command("report", "run", "--out", "board.html").code == 0


def test_what_is_missing_is_named_and_the_rest_is_there(command, folder):
    write(folder / "logs" / "good.jsonl", line(reward=1))
    write(folder / "logs" / "half.jsonl", line(reward=1), '{"messages": [{"role"', "42")
    write(folder / "logs" / "README.md", "nothing to see")
    said = command("import", "auto", "logs", "--out", "run")
    assert said.code == 6
    for part in ("half.jsonl: line 2: not JSON", "half.jsonl: line 3: holds a number", "1 of 2 files"):
        assert part in said.err
    assert "1 other files were left alone" in said.err
    assert len(evalkit.load("run").rows()) == 2


def test_a_bad_file_that_was_named_stops_no_other(command, folder):
    good = write(folder / "good.jsonl", line(reward=1))
    (folder / "pointer.eval").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    said = command("import", "auto", "pointer.eval", good, "--out", "run")
    assert said.code == 6
    assert "not imported: pointer.eval: a Git LFS pointer" in said.err
    assert len(evalkit.load("run").rows()) == 1


def test_of_nothing_no_run_is_made(command, folder):
    write(folder / "bad.jsonl", "42")
    for arguments, message in (
        (("openai-messages", "bad.jsonl"), "nothing could be imported: line 1: holds a number"),
        (("auto", "bad.jsonl"), "of no format that is recognised"),
        (("auto", "."), "there is no file of any format"),
        (("auto", "gone.jsonl"), "there is no such file or folder"),
        (("openai-mesages", "bad.jsonl"), "Did you mean openai-messages?"),
    ):
        said = command("import", *arguments, "--out", "run")
        assert (said.code, message in said.err) == (2, True), said.err
        assert sorted(os.listdir(folder)) == ["bad.jsonl"]


def test_a_place_that_is_taken_is_left_as_it_is(command, folder):
    good = write(folder / "good.jsonl", line(reward=1))
    write(folder / "taken" / "mine.txt", "precious")
    for place in ("taken", "good.jsonl"):
        said = command("import", "openai-messages", good, "--out", place)
        assert said.code == 2
        assert "Choose another folder with --out" in said.err
    assert (folder / "taken" / "mine.txt").read_text() == "precious\n"


def test_an_import_that_is_broken_off_leaves_nothing(command, folder, monkeypatch):
    good = write(folder / "good.jsonl", line(reward=1))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(importing.BulkTrials, "write", interrupted)
    assert command("import", "openai-messages", good, "--out", "run").code == 130
    assert os.listdir(folder) == ["good.jsonl"]


def test_the_same_twice_is_once(command, folder):
    good = write(folder / "logs" / "a.jsonl", line(task_id="a", reward=1))
    write(folder / "logs" / "a-copy.jsonl", line(task_id="a", reward=1))
    (folder / "logs" / "link.jsonl").symlink_to(good)
    said = command("import", "auto", "logs", good, "--suite", "mine", "--out", "run", "--json")
    assert said.code == 0
    assert json.loads(said.out)["import"]["copies"] == 1
    assert len(evalkit.load("run").rows()) == 1


def test_a_second_run_of_a_task_is_a_further_epoch(command, folder):
    write(folder / "a.jsonl", line(task_id="a", reward=1, epoch=1))
    write(folder / "b.jsonl", line(task_id="a", reward=0, epoch=1))
    said = command("import", "auto", "a.jsonl", "b.jsonl", "--suite", "mine", "--out", "run")
    assert said.code == 0
    assert "count as further epochs" in said.err
    assert {(t.epoch, t.status) for t in evalkit.load("run").rows()} == {(1, "passed"), (2, "failed")}


def test_gzip_is_opened_and_a_damaged_one_refused(command, folder):
    packed = gzip.compress((line(reward=1) + "\n").encode())
    (folder / "good.jsonl.gz").write_bytes(packed)
    (folder / "bad.jsonl.gz").write_bytes(packed[:-12])
    said = command("import", "openai-messages", "good.jsonl.gz", "bad.jsonl.gz", "--out", "run")
    assert said.code == 6
    assert "bad.jsonl.gz: damaged or cut off" in said.err
    assert len(evalkit.load("run").rows()) == 1


def test_from_which_reward_on_a_trial_passed_can_be_said(command, folder):
    write(folder / "a.jsonl", line(task_id="a", reward=0.6), line(task_id="b", reward=0.4), line(task_id="c"))
    assert command("import", "auto", "a.jsonl", "--pass-reward", "0.5", "--out", "run").code == 0
    found = {t.task_id: (t.status, t.reward) for t in evalkit.load("run").rows()}
    assert found == {"a": ("passed", 0.6), "b": ("failed", 0.4), "c": ("unscored", None)}


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_threshold_that_is_no_number_is_refused(command, folder, value):
    good = write(folder / "good.jsonl", line(reward=1))
    assert command("import", "auto", good, "--pass-reward", value, "--out", "run").code == 2


def test_an_imported_run_can_be_scored_again_and_compared(command, folder):
    write(folder / "a.jsonl", *(line(task_id=str(n), reward=n % 2, model="m/a") for n in range(6)))
    write(folder / "b.jsonl", *(line(task_id=str(n), reward=1, model="m/b") for n in range(6)))
    for name in ("a", "b"):
        assert command("import", "auto", f"{name}.jsonl", "--suite", "mine", "--out", name).code == 0
    assert command("score", "a").code == 0
    assert command("compare", "a", "b").code == 0, command("compare", "a", "b").err
    assert command("gate", "b", "--baseline", "a").code in {0, 5}
