"""What reproduces an agent's trials is exact, and does nothing else when it is pasted into a shell."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.report.command import MOST, command_of, quoted
from evalkit.trajectory.manifest import AgentEntry, PlannedRow, RunManifest, SuiteEntry

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TOLD = {"tool_settings": "default"}


def manifest(
    *, source: str | None = "suites/s", agent: Any = None, variants=("clean",), **given: Any
) -> RunManifest:
    settings = {"loop": "react", "model": "scripted/oracle", "thinking": "default", **(agent or {})}
    return RunManifest(
        **{
            "run_id": "r",
            "created_at": NOON,
            "suites": (SuiteEntry(name="s", source=source),),
            "agents": (AgentEntry(id="a", settings=settings),),
            "planned": tuple(
                PlannedRow(suite="s", task_id=task, epoch=1, agent="a", variant=variant)
                for task in ("t0", "t1")
                for variant in variants
            ),
            **given,
        }
    )


def text_of(about: RunManifest) -> str:
    text = command_of(about, "a", TOLD).text
    assert text is not None
    return text


@pytest.mark.parametrize(
    "source", ["my suites/core run", "/x'; touch PWNED1 #", "$(touch x)", "a\nb", "\x1b[2J"]
)
def test_a_suite_of_any_name_is_one_word(source):
    text = text_of(manifest(source=source))
    assert "\n" not in text
    assert "\x1b" not in text
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-c", f"evalkit() {{ printf '%s\\0' \"$@\"; }}; {text}"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().split("\0")[:2] == ["run", source]


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20))
def test_what_has_no_control_characters_is_quoted_as_shells_have_it(word):
    told = quoted(word)
    assert told.isprintable() or not word.isprintable()
    if not told.startswith("$'"):
        assert shlex.split(told) == [word]


def test_everything_that_the_run_knows_is_in_it():
    about = manifest(
        agent={
            "model": "openai/gpt x", "thinking": "effort:high", "temperature": 0.5, "seed": 7, "max_tokens": 90,
            "base_url": "http://127.0.0.1:1/v1", "own": {"loop": {"text": "/l.py@solve"}},
        },
        epochs=3,
        limits={"s/t0": {"steps": 9, "tokens": 800, "time_s": 1.5}, "s/t1": {"steps": 9, "tokens": 800, "time_s": 1.5}},
        settings={
            "sandbox": "docker", "max_trials": 2, "cost_limit_usd": 5.0, "trial_cost_limit_usd": 0.25,
            "chosen": {"task": "t*", "limit": 2, "faults": "my plan.toml", "tools": "t.toml", "approvals": "a.toml"},
            "effects": False,
        },
    )  # fmt: skip
    assert text_of(about) == (
        "evalkit run suites/s --model 'openai/gpt x' --thinking effort:high --loop /l.py@solve "
        "--base-url http://127.0.0.1:1/v1 --temperature 0.5 --seed 7 --max-tokens 90 "
        "--task 't*' --limit 2 --faults 'my plan.toml' --tools t.toml --approvals a.toml --epochs 3 "
        "--step-limit 9 --token-limit 800 --time-limit 1.5 --sandbox docker "
        "--cost-limit 5 --trial-cost-limit 0.25 --max-trials 2 --no-effects"
    )


def test_limits_in_which_tasks_differ_are_their_own():
    assert "--time-limit" not in text_of(manifest(limits={"s/t0": {"time_s": 1.0}, "s/t1": {"time_s": 2.0}}))


def test_a_run_that_does_not_say_what_was_chosen_says_so():
    found = command_of(manifest(variants=("clean", "slow")), "a", TOLD)
    assert "s/t0, s/t1" in found.beside[0]
    assert "does not say whether its faults" in found.beside[1]
    assert "--faults none" in text_of(manifest())


def test_what_no_option_says_stands_beside_it():
    about = manifest(
        agent={"tool_settings": {"timeout_s": 3}, "own": {"tools": [{"name": "mine"}]}},
        settings={"sandbox_runtime": "runsc", "readonly": ["/data"], "chosen": {}},
        policy={"approvals": {"id": "mine#1a2b3c"}},
        versions={"evalkit": "9.9"},
        git_commit="abc",
    )
    told = " | ".join(command_of(about, "a", {"tool_settings": "short#1a2b3c"}).beside)
    for word in (
        '"timeout_s": 3',
        "mine",
        "runsc",
        "/data",
        '"id": "mine#1a2b3c"',
        "evalkit 9.9",
        "commit abc",
    ):
        assert word in told


def test_nothing_is_said_of_approvals_that_there_are_not():
    found = command_of(manifest(policy={"approvals": None}, settings={"chosen": {}}), "a", TOLD)
    assert "pproval" not in " ".join((found.text or "", *found.beside))


def test_an_imported_run_has_no_command_and_says_so():
    found = command_of(manifest(source=None), "a", TOLD)
    assert (found.text, len(found.beside)) == (None, 1)


def test_a_command_that_nobody_can_read_is_not_shown():
    found = command_of(manifest(source="x" * 2_000_000), "a", TOLD)
    assert found.text is None
    assert "2,000,0" in found.beside[0]
    assert sum(map(len, found.beside)) < MOST


def test_a_damaged_description_is_no_crash():
    about = manifest(limits={"s/t0": 5}, settings={"task_arguments": [1], "chosen": "x"}, agent={"own": "x"})
    assert text_of(about).startswith("evalkit run suites/s")


def test_checkpoints_are_part_of_the_command():
    text = text_of(manifest(settings={"checkpoints": {"stride": 2, "budget": 0}}))
    assert "--checkpoints --checkpoint-stride 2 --checkpoint-budget 0" in text
    assert "--checkpoint" not in text_of(manifest(settings={"checkpoints": None}))
