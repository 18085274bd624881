"""Every key that `show --json` of a trial, `--failures` and `--follow` give is documented."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "looking-at-a-run.md"


@pytest.fixture
def run(command, made_run, folder) -> str:
    def play(task: int, epoch: int) -> dict[str, object]:
        return {"status": "failed" if task else "passed", "recovers": task == 1, "stop_reason": "submitted"}

    return str(made_run(folder / "run", play, tasks=3, epochs=1, variants=("clean", "down")))


def documented(after: str, before: str) -> set[str]:
    section = PAGE.read_text("utf-8").partition(after)[2].partition(before)[0]
    return set(re.findall(r"`([^`]+)`", section))


def keys(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()


def test_of_a_trial(command, run):
    told = json.loads(command("show", run, "t001.clean", "--json").out)
    assert told["episodes"]
    assert told["scores"]
    del told["trial"], told["steps"]  # the record's own columns, documented there
    assert keys(told) <= documented("A trial:", "`--failures`:")


def test_of_failures(command, run):
    told = json.loads(command("show", run, "--failures", "--json").out)
    assert any(trial["telling"] for group in told["groups"] for trial in group["trials"])
    assert keys(told) <= documented("`--failures`:", "`--follow` prints one object")


def test_of_following(command, run):
    (line,) = command("show", run, "--follow", "--json").out.splitlines()
    assert set(json.loads(line)) <= documented("`--follow` prints one object", "\n## ") | {"event"}
