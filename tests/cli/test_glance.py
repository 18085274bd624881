"""What of a run is seen at first glance, and what is only counted."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from evalkit.cli.glance import LOOKED_FOR, Glance, glance
from evalkit.project import find_project
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.metric import Metric
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.summary import Cell, Figure, Summary
from evalkit.trajectory.trial import Trial

AT_EASE = {
    "success": 1.0,
    "recovery_rate": None,
    "clean_success": 1.0,
    "collateral": 0.0,
    "violations": 0.0,
    "tamper_confirmed": 0.0,
    "tamper_suspected": 0.0,
    "token_efficiency": 0.9,
    "cost_of_pass": 900.0,
    "waste": 0.1,
    "futile_repeats": 0.0,
    "irreversible_ops": 0.0,
    "brier": None,
}


@pytest.fixture(scope="module")
def declared() -> dict[str, Quantity]:
    """The bundled scorers' metrics by name."""
    return {
        metric.name: Quantity(named.name, metric.name, metric)
        for named in find_scorers(find_project())
        for metric in named.scorer.metrics
    }


@pytest.fixture(scope="module")
def seen(declared) -> Callable[..., Glance]:
    """What is seen of agents, each with its numbers by name: `seen({"success": 1.0}, {"success": 0.5})`."""

    def look(*agents: dict[str, float | None], curves: dict[str, str] | None = None) -> Glance:
        def quantity(name: str) -> Quantity:
            return declared.get((curves or {}).get(name, name)) or Quantity(
                "mine", name, Metric(name=name, meaning="m")
            )

        cells = tuple(
            Cell(
                agent=f"agent-{place}",
                arm="clean",
                group=None,
                trials=8,
                unscored=0,
                awaiting={},
                figures={
                    name: Figure(
                        name, quantity(name), Estimate(value, None, None, 8 if value is not None else 0, 8, 0)
                    )
                    for name, value in numbers.items()
                },
            )
            for place, numbers in enumerate(agents)
        )
        scorers = tuple(sorted({str(own.quantity.scorer) for cell in cells for own in cell.figures.values()}))
        return glance(Summary(cells, None, scorers, {}, ()), find_project().bundled_names("scorers"))

    return look


def test_everything_that_is_looked_for_is_declared_by_its_scorer(declared):
    assert [
        (scorer, metric)
        for scorer, metric, _ in LOOKED_FOR
        if metric not in declared or declared[metric].scorer != scorer
    ] == []


def test_what_keeps_people_safe_is_a_result_at_0_too(seen):
    assert {"collateral", "violations", "tamper_confirmed"} <= set(seen(AT_EASE).shown)


def test_numbers_stand_in_the_order_in_which_they_are_looked_for(seen):
    assert seen(dict(sorted(AT_EASE.items()))).shown == (
        "success",
        "clean_success",
        "collateral",
        "violations",
        "tamper_confirmed",
        "token_efficiency",
        "cost_of_pass",
    )


def test_what_nobody_could_measure_is_named_and_not_taken_for_0(seen):
    found = seen({**AT_EASE, "violations": None})
    assert found.unknown == ("recovery_rate", "violations")
    assert "violations" not in found.shown


def test_what_nobody_computed_is_named(seen):
    assert seen({"success": 1.0}).unscored == (
        "recovery_rate",
        "clean_success",
        "collateral",
        "violations",
        "tamper_confirmed",
        "token_efficiency",
        "cost_of_pass",
    )


def test_one_agent_with_something_to_say_is_enough(seen):
    assert "irreversible_ops" not in seen(AT_EASE, AT_EASE).shown
    assert "irreversible_ops" in seen(AT_EASE, {**AT_EASE, "irreversible_ops": 0.5}).shown
    assert "tamper_suspected" in seen({**AT_EASE, "tamper_suspected": 0.1}, AT_EASE).shown


def test_all_others_are_counted_and_those_that_say_nothing_too(seen):
    found = seen(AT_EASE)
    assert set(found.folded) == {"tamper_suspected", "waste", "futile_repeats", "irreversible_ops", "brier"}
    assert found.silent == 4


def test_a_partial_credit_is_shown_where_it_says_more_than_the_success(seen):
    assert "progress" in seen({"success": 0.0, "progress": 0.4}).shown
    assert "progress" in seen({"success": 1.0, "progress": 1.0}, {"success": 0.0, "progress": 0.1}).shown
    assert "progress" not in seen({"success": 1.0, "progress": 1.0}).shown


def test_of_a_curve_over_attempts_the_most_attempts_are_shown(seen):
    points = {f"pass^{k}": 1 / k for k in (1, 2, 10)}
    found = seen({"success": 1.0, **points}, curves=dict.fromkeys(points, "pass^k"))
    assert found.shown == ("success", "pass^10")
    assert seen({"success": 1.0, "pass^1": 1.0}, curves={"pass^1": "pass^k"}).shown == ("success",)


def test_without_a_success_the_graders_word_is_shown(seen):
    assert seen({"pass^1": 1.0}, curves={"pass^1": "pass^k"}).shown == ("pass^1",)


def test_a_scorer_of_ones_own_is_shown_whatever_it_says(seen):
    found = seen({**AT_EASE, "my_count": 0.0, "my_rate": None})
    assert found.shown[-1] == "my_count"
    assert found.unknown[-1] == "my_rate"


@pytest.fixture
def of_agents(scored_run) -> Callable[..., str]:
    """A run of eight tasks and these agents, whose scores are all alike."""

    def make(*agents: str) -> str:
        def trial(agent: str, task: int) -> Trial:
            return Trial(
                run_id="run-1",
                suite="s",
                task_id=f"t{task}",
                agent=agent,
                trial_id=f"t{task}.{agent.rpartition('/')[2]}",
                status="passed",
                epoch=1,
            )

        scores = {"success": 1.0, "reward": 1.0, "progress": 1.0}
        return str(scored_run(*((trial(agent, task), scores) for agent in agents for task in range(8))))

    return make


def test_the_command_that_shows_the_others_does(command, of_agents):
    run = of_agents("react/m")
    first = command("show", run, "--task", "t*", columns=200).out
    assert "\nprogress " not in first
    assert f"4 more metrics: evalkit show {run} --task 't*' --all-metrics\n" in first
    every = command("show", run, "--task", "t*", "--all-metrics").out
    assert "\nprogress " in every
    assert "more metrics" not in every
    assert "\nprogress " in command("show", run, "--full").out


def test_programs_always_get_every_metric(command, of_agents):
    run = of_agents("react/m")
    told = command("show", run, "--json").out
    assert "progress" in json.loads(told)["agents"][0]["metrics"]
    assert command("show", run, "--all-metrics", "--json").out == told


def test_many_agents_stand_side_by_side_under_what_tells_them_apart(command, of_agents):
    said = command("show", of_agents(*(f"react/lab/model-{place}" for place in range(5)))).out
    lines = said.partition("\nAll agents are react/lab/...\n")[2].splitlines()
    assert lines[0].split() == [f"model-{place}" for place in range(5)]
    assert lines[1].split() == ["metric", *["value", "n"] * 5]
    assert lines[2].split() == ["success", *["1.00", "8"] * 5]
    assert lines[3].split() == ["95", "%", *["[0.63,", "1.00]"] * 5]
    assert all(len(line) <= 80 for line in lines[:4])


def test_metrics_are_named_or_all_wanted_and_not_both(command, of_agents):
    said = command("show", of_agents("react/m"), "--all-metrics", "--metric", "success")
    assert said.code == 2
    assert "Use one of them" in said.err


def test_a_trial_and_failures_have_no_metrics_to_show_all_of(command, of_agents):
    run = of_agents("react/m")
    assert command("show", run, "t0", "--all-metrics").code == 2
    assert command("show", run, "--failures", "--all-metrics").code == 2


@pytest.mark.parametrize(("value", "begins"), [(2.0, "\x1b[1;31m2.00"), (0.0, "0.00")])
def test_confirmed_tampering_stands_out(command, scored_run, monkeypatch, value, begins):
    trial = Trial(run_id="run-1", suite="s", task_id="t", agent="a", trial_id="t.a", status="passed", epoch=1)
    run = str(scored_run((trial, {"tamper_confirmed": value}), scorer="tampering"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    line = next(line for line in command("show", run).out.splitlines() if line.startswith("tamper_confirmed"))
    assert line.removeprefix("tamper_confirmed").lstrip().startswith(begins)
