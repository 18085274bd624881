"""What spending and thinking add up to over a run, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from evalkit.cli.no_value import why_no_value
from evalkit.cli.summing import quantities_of, run_summary
from evalkit.project import find_project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Think


@pytest.fixture
def summed(finished, tmp_path):
    """The figures of one run by agent, and why those without a value have none."""

    def of(*trials):
        run = finished(*trials)
        scorers = find_scorers(find_project(tmp_path), ["overthinking", "pondering"])
        assert not score_run(run, scorers).failed
        summary = run_summary(load(run))
        quantities = quantities_of(summary)
        told = {cell.agent: {n: f.estimate for n, f in cell.figures.items()} for cell in summary.cells}
        why = {
            cell.agent: {name: why_no_value(cell, quantities[name], name) for name in cell.figures}
            for cell in summary.cells
        }
        return told, why

    return of


def test_the_cost_of_a_pass_is_all_that_was_spent_by_what_was_solved(made, summed):
    """Failures are paid for; what is unscored, or of unknown cost, is in neither sum."""
    told, why = summed(
        made("a1", task_id="k", output_tokens=100, cost_usd=0.25),
        made("a2", task_id="k", epoch=2, output_tokens=900, cost_usd=0.75, status="failed"),
        made("a3", task_id="l", output_tokens=500, cost_usd=1.0),
        (made("a4", task_id="l", epoch=2, output_tokens=None, cost_usd=None), ()),
        made("a5", task_id="m", output_tokens=7000, status="unscored", error_origin="sandbox"),
        made("b1", task_id="k", agent="b", output_tokens=300, status="failed"),
    )
    assert (told["a"]["cost_of_pass"].value, told["a"]["usd_of_pass"].value) == (750, 1)
    assert told["b"]["cost_of_pass"].value is None
    assert told["b"]["cost_of_pass"].trials == 1
    assert "infinite" in why["b"]["cost_of_pass"]


def test_overspend_is_the_geometric_mean_over_tasks(made, summed):
    """Agent b sets the reference with 100 tokens each; a takes 4 and 9 times as much."""
    told, _ = summed(
        made("a1", task_id="k", output_tokens=400),
        made("a2", task_id="l", output_tokens=900),
        made("a3", task_id="m", output_tokens=900, status="failed"),
        *(made(f"b{task}", task_id=task, agent="b", output_tokens=100) for task in "klm"),
    )
    assert told["a"]["overspend"].value == pytest.approx(6)
    assert told["a"]["overspend"].trials == 2
    assert told["b"]["overspend"].value == pytest.approx(1)
    assert told["a"]["token_efficiency"].value == pytest.approx((1 / 4 + 1 / 9 + 0) / 3)
    assert told["a"]["overthinking_auc"].value == pytest.approx((1 - 4 / 16 + 1 - 9 / 16) / 3)
    assert told["a"]["waste"].value == pytest.approx(math.log(6))


def test_thinking_per_effective_action_is_told_by_median_and_quartiles_of_tasks(made, summed):
    """Two calls, of which the second shows nothing new: one is effective."""

    def trial(number, thinking):
        call = {"tool": "bash", "arguments": '{"command":"ls"}', "exit_code": 0, "observation": "a"}
        steps = (
            Think(step=0, output_tokens=thinking, reasoning_tokens=thinking),
            Act(step=1, think_step=0, call_index=0, **call),
            Act(step=2, think_step=0, call_index=1, **call),
        )
        columns = {"task_id": f"t{number}", "reasoning_tokens": thinking, "output_tokens": thinking}
        return made(f"t{number}", **columns), steps

    told, _ = summed(*(trial(number, thinking) for number, thinking in enumerate((100, 1000, 200, 400, 300))))
    names = [f"thinking_per_effective_action{part}" for part in ("_q1", "", "_q3")]
    assert [told["a"][name].value for name in names] == [200, 300, 400]
