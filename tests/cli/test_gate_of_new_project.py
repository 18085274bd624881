"""The gate policy that `evalkit init` writes: the smallest margin that so few tasks can pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalkit.gate.policy_file import read_policy
from evalkit.stats.lower_bound import lower_bound
from evalkit.tasks.gate_scaffold import gate_policy, smallest_points


def agreeing(task, epoch):
    return {"status": "passed"}


@pytest.mark.parametrize("tasks", [1, 2, 5, 10, 29, 59, 150])
def test_it_is_valid_and_its_margin_the_smallest_that_passes(tmp_path, tasks):
    path = tmp_path / "gate.toml"
    path.write_text(gate_policy(tasks))
    policy = read_policy(path)
    (rule,) = policy.metrics
    n = policy.min_tasks
    assert (rule.name, rule.kind, n) == ("success", "drop", max(2, tasks))
    bound = lower_bound(np.zeros(n), -1.0)
    assert -rule.margin < bound <= -(rule.margin - 0.01)


def test_it_says_how_many_tasks_smaller_margins_need():
    assert "10 points needs 29 tasks" in gate_policy(1)
    assert "5 points 59." in gate_policy(1)
    assert [smallest_points(n) for n in (28, 29, 58, 59)] == [11, 10, 6, 5]


def test_a_policy_that_is_there_is_kept(command):
    Path("gate.toml").write_text("# mine\n")
    assert "gate.toml" not in command("init").out
    assert Path("gate.toml").read_text() == "# mine\n"


def test_a_new_project_accepts_a_baseline_and_gates_without_any_option(command, made_run, folder):
    assert command("init").code == 0
    for name in ("first", "second"):
        made_run(folder / "runs" / name, agreeing, tasks=2, epochs=1, scorers=("success",))
    assert command("baseline", "accept", "runs/first", "--why", "it works").code == 0
    assert Path("baselines/smoke.json").is_file()
    said = command("gate", "runs/second", "--strict")
    assert (said.code, said.out.splitlines()[0]) == (0, "PASS: success is no worse than allowed, on 2 tasks.")


def test_before_the_first_baseline_it_says_how_to_accept_one(command, made_run, folder):
    assert command("init").code == 0
    made_run(folder / "run", agreeing, tasks=2, epochs=1, scorers=("success",))
    said = command("gate", "run")
    assert said.code == 2
    assert "baselines/smoke.json: there is no such baseline" in said.err
    assert "evalkit baseline accept RUN" in said.err


def test_one_task_alone_decides_nothing_and_that_is_said(command, made_run, folder):
    assert command("init").code == 0
    assert "its one task the gate stays inconclusive" in Path("gate.toml").read_text()
    made_run(folder / "run", agreeing, tasks=1, epochs=1, scorers=("success",))
    assert command("gate", "run", "--baseline", "run").code == 0
    assert command("gate", "run", "--baseline", "run", "--strict").code == 4
