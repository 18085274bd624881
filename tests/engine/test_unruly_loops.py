"""Loops, tasks, scorers and tools of others that misbehave: each ends, and each has its own origin."""

from __future__ import annotations

import pytest

from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

pytestmark = pytest.mark.local
LOOPS = """\
import asyncio
from inspect_ai.solver import solver

@solver
def stubborn():
    async def solve(state, generate):
        while True:
            try:
                state = await generate(state)
            except Exception:
                pass

    return solve

@solver
def nothing():
    async def solve(state, generate):
        await generate(state)

    return solve

@solver
def fake_cancel():
    async def solve(state, generate):
        await generate(state)
        raise asyncio.CancelledError

    return solve
"""
TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, scorer, accuracy
from inspect_ai.solver import generate

@scorer(metrics=[accuracy()])
def odd():
    async def score(state, target):
        VERDICT

    return score

@task
def sums():
    return Task(dataset=[Sample(id=IDENTITY, input="1 + 1?", target="2")], solver=generate(), scorer=odd())
"""


@pytest.fixture
def run_loop(tmp_path, make_suite, run_suite, endpoint, said):
    def run(loop: str, **flags) -> Trial:
        endpoint(said("Hm."))
        file = tmp_path / "my_loops.py"
        file.write_text(LOOPS)
        found = run_suite(
            make_suite(), "openai-compatible/x", base_url=endpoint.url, loop=f"{file}@{loop}", **flags
        )
        return found.rows()[0]

    return run


@pytest.fixture
def run_task(tmp_path, run_suite, endpoint, said):
    def run(verdict: str, identity: str = "two") -> Run:
        endpoint(said("2"))
        file = tmp_path / "my_task.py"
        file.write_text(TASK.replace("VERDICT", verdict).replace("IDENTITY", repr(identity)))
        return run_suite(f"inspect:{file}@sums", "openai-compatible/x", base_url=endpoint.url)

    return run


@pytest.mark.parametrize(
    ("flags", "reason"), [({"step_limit": 5}, "step_limit"), ({"token_limit": 400}, "token_limit")]
)
def test_a_loop_that_swallows_every_exception_ends_at_its_limit(run_loop, flags, reason):
    trial = run_loop("stubborn", **flags)
    assert (trial.status, trial.stop_reason) == ("failed", reason)


def test_a_loop_that_swallows_every_exception_ends_when_its_time_is_over(run_loop):
    trial = run_loop("stubborn", time_limit_s=2.0, step_limit=100_000)
    assert (trial.status, trial.stop_reason) == ("failed", "time_limit")


def test_a_loop_that_returns_nothing_is_told_by_name(run_loop):
    trial = run_loop("nothing")
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "the solver nothing returned NoneType, not a TaskState" in trial.error_message


def test_a_loop_that_cancels_itself_was_not_interrupted(run_loop):
    trial = run_loop("fake_cancel")
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "cancelled itself" in trial.error_message


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ("return 0.3", "gave float '0.3', which is no Score"),
        ("return Score(value=10**400)", "gave what is no number"),
        ("raise SystemExit(4)", "failed: SystemExit: 4"),
        ("return None", "gave no score"),
    ],
)
def test_a_scorer_that_gives_no_verdict_is_the_graders_fault(run_task, verdict, told):
    (trial,) = run_task(verdict).rows()
    assert (trial.status, trial.error_origin) == ("unscored", "grader")
    assert told in trial.error_message


def test_a_sample_with_an_empty_id_is_known_by_its_number(run_task):
    (trial,) = run_task("return Score(value=1)", identity="").rows()
    assert (trial.status, trial.task_id) == ("passed", "1")
