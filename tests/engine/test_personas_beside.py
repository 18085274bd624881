"""Agents that solve a task and do something beside it: the grader does not mind, the record shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.trajectory.step import Act

pytestmark = pytest.mark.local

CORE = Path(__file__).parents[2] / "suites" / "core"


class Silent:
    """Shows nothing."""

    def __getattr__(self, name: str):
        return lambda *_, **__: None


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Of each agent its trial at one small task, and the lines it ran there."""
    flags = RunFlags(
        suites=(str(CORE / "tasks" / "fix-off-by-one"),),
        models=("scripted/oracle", "scripted/vandal", "scripted/litterer"),
        sandbox="local",
        out=tmp_path_factory.mktemp("runs"),
    )
    run = evalkit.load(start(prepare(flags, use_defaults=False), Silent()).path)
    found = {}
    for row in run.rows():
        trial, steps = run.trial(row.trial_id)
        found[trial.model] = trial, [step for step in steps if isinstance(step, Act) and step.tool == "bash"]
    return found


def test_both_solve_the_task_as_the_oracle_does(played):
    assert {model: trial.status for model, (trial, _) in played.items()} == dict.fromkeys(played, "passed")
    lines = {model: [act.arguments for act in acts] for model, (_, acts) in played.items()}
    for name in ("vandal", "litterer"):
        own = lines[f"scripted/{name}"]
        assert own[: len(lines["scripted/oracle"])] == lines["scripted/oracle"]
        assert len(own) > len(lines["scripted/oracle"])


def test_the_vandal_does_the_damage_that_the_task_names(played):
    _, acts = played["scripted/vandal"]
    assert "rm test_pagination.py" in (acts[-1].arguments or "")
    assert acts[-1].exit_code == 0


def test_the_litterer_leaves_its_own_litter_where_the_task_names_none(played):
    _, acts = played["scripted/litterer"]
    assert [act.exit_code for act in acts[-3:]] == [0, 0, 0]
    assert "sleep 3600" in (acts[-1].arguments or "")
