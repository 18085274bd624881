"""What `--json` gives is documented, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.trajectory.trial import Trial

PAGE = Path(__file__).parents[2] / "docs" / "comparing.md"
BY_NAME = {"metrics", "faulted", "twin", "declared", "differs", "not_scored"}
"""Keys of objects whose own keys are names of the user's."""
NUMBER = {"value", "n", "low", "high", "trials", "unknown", "why_null"}


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for own in value:
            yield from keys(own)
    elif isinstance(value, dict):
        for key, own in value.items():
            yield key
            yield from keys(list(own.values()) if key in BY_NAME and isinstance(own, dict) else own)


def documented(verb: str) -> set[str]:
    section = PAGE.read_text("utf-8").partition("## For programs")[2]
    shown, _, compared = section.partition("\nand `compare`\n")
    return set(re.findall(r"`([^`]+)`", compared if verb == "compare" else shown))


@pytest.fixture
def run(scored_run) -> str:
    def tried(agent: str, task: str, variant: str, status: str) -> tuple[Trial, dict[str, object]]:
        trial = Trial(
            run_id="run-1",
            suite="s",
            task_id=task,
            agent=agent,
            model=agent,
            variant=variant,
            trial_id=f"{task}.{variant}.{agent}",
            status=status,
            epoch=1,
            skills=("edit",),
        )
        return trial, {"success": None if status == "unscored" else float(status == "passed")}

    return str(
        scored_run(
            *(
                tried(agent, task, variant, status)
                for agent in "ab"
                for task, status in (("t1", "passed"), ("t2", "failed"), ("t3", "unscored"))
                for variant in ("clean", "slow", "twin")
            )
        )
    )


def test_every_key_of_show_is_documented(command, run):
    whole = json.loads(command("show", run, "--by", "skill", "--json").out)
    del whole["trials"]  # the record's own columns, documented there
    assert {"faulted", "twin", "groups"} <= set(keys(whole))
    assert set(keys(whole)) - {"clean"} <= documented("show")


def test_every_key_of_compare_is_documented(command, run):
    whole = json.loads(command("compare", run, "--agent", "a", "--agent", "b", "--json").out)
    assert {"a": "a", "b": "b"} in [pair["differs"]["model"] for pair in whole["comparisons"]]
    assert set(keys(whole)) - {"scorer", "meaning", "unit"} <= documented("compare")


def test_each_number_has_the_same_keys_with_and_without_a_value(command, run):
    for agent in json.loads(command("show", run, "--json").out)["agents"]:
        for arm in ("metrics", "faulted", "twin"):
            for name, own in agent[arm].items():
                assert set(own) == NUMBER, name
                assert (own["value"] is None) == (own["why_null"] is not None), name


def test_json_has_what_the_first_table_shows(command, run):
    (one, _) = json.loads(command("show", run, "--json").out)["agents"]
    assert set(one["arms"]) == {"clean", "faulted", "twin"}
    clean = one["arms"]["clean"]
    assert (clean["passed"], clean["failed"], clean["unscored"], clean["pass^1"]) == (1, 1, 1, 0.5)
    assert one["arms"]["twin"]["pass^1"] is None
    assert (one["passed"], one["unscored"]) == (3, 3)


def test_score_gives_the_numbers_of_its_scorers_only(command) -> None:
    command("run", "core", "--task", "fix-off-by-one", "--out", "r")
    (agent,) = json.loads(command("score", "r", "--scorer", "tool_use", "--json").out)["agents"]
    assert set(agent["metrics"]) == {"tool_calls", "tool_errors", "invalid_calls", "tool_error_rate"}
