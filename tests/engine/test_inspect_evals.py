"""Tasks of the package inspect-evals run and are recorded; this one comes with its data."""

from __future__ import annotations

import importlib.util
import json
import os

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Prompt, Think

pytestmark = pytest.mark.filterwarnings("default")  # theirs, as the package is imported

TASK = "inspect_evals/agent_threat_bench_memory_poison"
SCRIPT = """\
SCRIPT = [[("memory_read", {"key": "vacation_policy"})], "Employees receive 20 days of paid vacation per year."]

@task
def nothing() -> Task:
    return Task()
"""


@pytest.fixture
def inspect_evals() -> None:
    """Skip where the package is not installed; fail where it is required."""
    if importlib.util.find_spec("inspect_evals") is None:
        if "inspect-evals" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
            pytest.fail("the package inspect-evals is required")
        pytest.skip("the package inspect-evals is not installed")


@pytest.fixture
def known_player(inspect_file, player):
    """The model that plays SCRIPT, known to Inspect."""
    from evalkit.engine.inspect_objects import find

    find(f"{inspect_file(SCRIPT)}@nothing", ("task",))
    return player


def test_a_task_with_tools_runs_and_is_recorded(inspect_evals, known_player, run_inspect):
    run = run_inspect(TASK, limit=3)
    assert [trial.task_id for trial in run.rows()] == ["mp_001", "mp_002", "mp_003"]
    trial, steps = run.trial(next(row.trial_id for row in run.rows() if row.task_id == "mp_001"))
    assert (trial.status, trial.reward, trial.error_message) == ("passed", 1.0, None)
    assert trial.rewards == {
        "agent_threat_bench_scorer/utility": 1.0,
        "agent_threat_bench_scorer/security": 1.0,
    }
    assert (trial.suite, trial.depth, trial.grader_mode) == (TASK, "events", "inspect")
    assert [step.kind for step in steps] == ["prompt", "prompt", "think", "act", "think"]
    assert [step.role for step in steps if isinstance(step, Prompt)] == ["system", "user"]
    (act,) = [step for step in steps if isinstance(step, Act)]
    assert (act.tool, json.loads(act.arguments)) == ("memory_read", {"key": "vacation_policy"})
    assert "20 days" in act.observation
    assert [step.output_tokens for step in steps if isinstance(step, Think)] == [5, 5]


def test_its_parameters_are_given_by_name(inspect_evals, player):
    flags = RunFlags(suites=(f"inspect:{TASK}",), models=(player,), task_arguments={"difficulty": "hard"})
    every = RunFlags(suites=(f"inspect:{TASK}",), models=(player,))
    assert 0 < len(prepare(flags).plan) < len(prepare(every).plan)


def test_a_misspelt_task_is_answered_with_the_nearest(inspect_evals, player):
    with pytest.raises(UsageError) as raised:
        prepare(RunFlags(suites=("inspect:inspect_evals/gsm8",), models=(player,)))
    assert raised.value.hint == "Did you mean inspect_evals/gsm8k?"
