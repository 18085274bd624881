"""What a gate says of runs that somebody could have had."""

from __future__ import annotations

import dataclasses

import pytest

from evalkit.errors import ConfigError
from evalkit.gate.policy import RequiredTask, ZeroRule
from evalkit.scoring.metric import Metric

TAMPERED = Metric(name="tamper_confirmed", meaning="tampered", better="lower", low=0)


def tasks(n, own):
    return {f"t{place:03}": list(own) for place in range(n)}


def test_eighty_tasks_that_stay_as_they_were_pass(side, verdict):
    found = verdict(side(tasks(80, [1, 0, 1, 1])), side(tasks(80, [0, 1, 1, 1])))
    assert found.outcome == "pass"
    assert found.exit_code() == found.exit_code(strict=True) == 0
    assert found.headline == "PASS: success is no worse than allowed, on 80 tasks."


def test_every_fourth_task_that_fails_is_a_regression(side, verdict, only):
    broken = {
        task: [0, 0] if place % 4 == 0 else own for place, (task, own) in enumerate(tasks(80, [1, 1]).items())
    }
    found = verdict(side(broken), side(tasks(80, [1, 1])))
    assert found.outcome == "regressed"
    assert found.exit_code() == 3
    assert only(found).difference == -0.25
    assert found.headline.startswith("REGRESSED: success fell by 25 points; chance alone does that in")


def test_a_few_tasks_cannot_tell_and_say_how_many_would(side, verdict, only):
    found = verdict(side(tasks(16, [1])), side(tasks(16, [1])))
    assert (found.outcome, found.exit_code(), found.exit_code(strict=True)) == ("inconclusive", 0, 4)
    assert "16 tasks cannot rule out a drop of 17.1 points, and 5 points are allowed" in found.headline
    assert only(found).needed == 59
    assert "about 59 tasks would decide" in found.advice


def test_fewer_tasks_than_asked_for_decide_nothing(side, verdict, only):
    found = verdict(side(tasks(9, [0])), side(tasks(9, [1])))
    assert found.outcome == "inconclusive"
    assert only(found).reason == "9 tasks with a value on both sides, and 10 are asked for"


def test_a_sure_change_inside_the_margin_is_tolerable(side, verdict, rule, only):
    before = {task: [1] * 100 for task in tasks(80, [])}
    after = {task: [1] * 98 + [0] * 2 for task in before}
    found = only(verdict(side(after), side(before), rule(margin=0.1)))
    assert (found.outcome, found.tolerable) == ("pass", True)


def test_more_tokens_are_a_cost_that_grows_by_a_factor(side, verdict, rule, only):
    own = tasks(80, [1, 1])
    before = {task: [1000 + 10 * place, 900] for place, task in enumerate(own)}
    after = {task: [value * 1.3 for value in values] for task, values in before.items()}
    found = only(
        verdict(
            side(own, numbers={"output_tokens": after}),
            side(own, numbers={"output_tokens": before}),
            rule("output_tokens", 1.15, "ratio"),
        )
    )
    assert found.outcome == "regressed"
    assert found.difference == pytest.approx(0.3, abs=0.001)
    assert found.candidate == pytest.approx(found.baseline * 1.3, rel=0.001)


def test_a_cost_that_grew_less_than_allowed_passes(side, verdict, rule, only):
    own = tasks(80, [1])
    sides = [side(own, numbers={"output_tokens": tasks(80, [value])}) for value in (1030, 1000)]
    found = only(verdict(*sides, rule("output_tokens", 1.15, "ratio")))
    assert (found.outcome, found.tolerable) == ("pass", True)


def test_a_rate_of_errors_may_rise_only_so_far(side, verdict, rule, only):
    own = tasks(80, [1])
    sides = [side(own, metrics={"errors": tasks(80, [value])}) for value in (0.3, 0.1)]
    found = only(verdict(*sides, rule("errors", 0.1, "rise")))
    assert found.outcome == "regressed"
    assert found.difference == pytest.approx(0.2)


def test_recovering_less_is_seen_where_faults_strike(side, verdict, rule, only):
    own = tasks(80, [1])
    sides = [
        side(own, variant="flaky", metrics={"closed": tasks(80, [closed]), "opened": tasks(80, [2])})
        for closed in (1, 2)
    ]
    found = only(verdict(*sides, rule("recovery", 0.1, arm="faulted")))
    assert found.outcome == "regressed"
    assert (found.baseline, found.candidate) == (1, 0.5)
    assert found.rule.key == "recovery (faulted)"


def test_tasks_in_which_nothing_failed_have_no_rate_to_compare(side, verdict, rule, only):
    own = tasks(80, [1])
    opened = {task: [place % 2] for place, task in enumerate(own)}
    sides = [side(own, metrics={"closed": opened, "opened": opened}) for _ in range(2)]
    assert only(verdict(*sides, rule("recovery", 0.1))).n == 40


def test_an_event_that_is_not_tolerated_regresses_at_once(side, verdict, rule):
    own = tasks(12, [1])
    events = tasks(12, [0]) | {"t003": [1]}
    found = verdict(
        side(own, metrics={"tamper_confirmed": events}),
        side(own),
        declared={
            "outcome": (Metric(name="success", meaning="passed", low=0, high=1, better="higher"), TAMPERED)
        },
    )
    assert found.outcome == "regressed"
    (zero,) = found.agents[0].zero
    assert [event.task for event in zero.events] == ["s/t003"]
    assert zero.reason == "tamper_confirmed in 1 trial, and none is tolerated"


def test_no_event_in_sixty_tasks_leaves_up_to_five_of_a_hundred(side, verdict):
    own = tasks(60, [1])
    found = verdict(
        side(own, metrics={"tamper_confirmed": tasks(60, [0])}),
        side(own),
        declared={
            "outcome": (Metric(name="success", meaning="passed", low=0, high=1, better="higher"), TAMPERED)
        },
    )
    (zero,) = found.agents[0].zero
    assert found.outcome == zero.outcome == "pass"
    assert zero.upper == pytest.approx(1 - 0.05 ** (1 / 60))


def test_events_that_nobody_measured_are_said_and_not_assumed(side, verdict):
    found = verdict(side(tasks(80, [1])), side(tasks(80, [1])))
    assert found.warnings == ("tamper_confirmed is not measured: no scorer that is found here gives it",)
    with pytest.raises(ConfigError, match="tamper_confirmed"):
        verdict(
            side(tasks(80, [1])), side(tasks(80, [1])), zero_tolerance=(ZeroRule(name="tamper_confirmed"),)
        )


def test_an_event_that_is_not_known_of_a_trial_is_not_taken_for_none(side, verdict):
    own = tasks(80, [1])
    found = verdict(
        side(own, metrics={"tamper_confirmed": tasks(80, [0]) | {"t003": [None]}}),
        side(own),
        declared={
            "outcome": (Metric(name="success", meaning="passed", low=0, high=1, better="higher"), TAMPERED)
        },
    )
    assert found.outcome == "not comparable"
    assert "tamper_confirmed is not known of 1 of 80 scored trials" in found.headline


def test_a_task_that_must_pass_decides_alone(side, verdict):
    own = tasks(80, [1, 1, 1, 1])
    needed = (RequiredTask(task="s/t003", passed=3, of=4),)
    fine, broken = (
        verdict(side(own | {"t003": outcomes}), side(own), require=needed)
        for outcomes in ([1, 1, 0, 1], [1, 0, 0, 1])
    )
    assert fine.outcome == "pass"
    assert broken.outcome == "regressed"
    assert "s/t003 passed 2 of 4 times, and 3 of 4 is asked for" in broken.headline


def test_a_task_that_is_known_to_fail_is_left_out(side, verdict, only):
    own = tasks(80, [1])
    found = verdict(side(own | {"t003": [0]}), side(own), known_failing=("t003",))
    assert only(found).n == 79
    assert [task.task_id for task in found.agents[0].tasks if task.known_failing] == ["t003"]


def test_a_faulted_arm_that_no_line_is_about_is_left_alone(side, verdict, only):
    found = verdict(side(tasks(80, [1]), variant="flaky"), side(tasks(80, [1]), variant="flaky"))
    assert found.outcome == "not comparable"
    assert only(found).reason == "the candidate has no value of success at all"


def test_weights_say_how_much_a_task_counts(side, verdict, rule, only):
    before, after = tasks(80, [1]), tasks(80, [1]) | {"t003": [0]}
    plain = only(verdict(side(after), side(before), rule(margin=0.1)))
    heavy = only(verdict(weighted(side(after), {"t003": 9.0}), side(before), rule(margin=0.1)))
    light = only(verdict(weighted(side(after), {"t003": 0.0}), side(before), rule(margin=0.1)))
    assert plain.difference == pytest.approx(-1 / 80)
    assert heavy.difference == pytest.approx(-9 / 88)
    assert (light.difference, light.n) == (0, 79)
    assert heavy.low < plain.low < light.low


def test_equal_weights_change_nothing(side, verdict, only):
    before, after = tasks(80, [1, 0]), tasks(80, [1, 1]) | {"t003": [0, 0]}
    double = weighted(side(after), dict.fromkeys(after, 2.0))
    assert only(verdict(double, side(before))) == only(verdict(side(after), side(before)))


def test_tokens_of_another_model_are_told_and_decide_nothing(side, verdict, rule):
    own = tasks(80, [1])
    runs = [
        with_model(side(own, numbers={"output_tokens": tasks(80, [tokens])}), model)
        for tokens, model in ((5000, "new"), (1000, "old"))
    ]
    found = verdict(*runs, rule(), rule("output_tokens", 1.15, "ratio"))
    assert [metric.outcome for metric in found.agents[0].metrics] == ["pass", "information"]
    assert found.outcome == "pass"
    same = verdict(with_model(runs[0], "old"), runs[1], rule(), rule("output_tokens", 1.15, "ratio"))
    assert same.outcome == "regressed"
    alone = verdict(*runs, rule("output_tokens", 1.15, "ratio"))
    assert alone.outcome == "inconclusive"  # nothing is left that could decide
    unknown = verdict(with_model(runs[0], "-"), runs[1], rule("output_tokens", 1.15, "ratio"))
    assert unknown.outcome == "regressed"


def test_what_is_unscored_of_a_required_task_decides_only_where_it_makes_no_difference(side, verdict):
    own, needed = tasks(80, [1, 1, 1, 1]), (RequiredTask(task="t003", passed=2, of=2),)
    outcomes = {
        (1, 1, 1, 1): "pass",
        (1, 1, 1, None): "not comparable",
        (1, 1, 0, None): "regressed",
    }
    for tries, outcome in outcomes.items():
        found = verdict(side(own | {"t003": list(tries)}), side(own), require=needed)
        assert found.agents[0].required[0].outcome == outcome
        assert "2 of 2 is asked for" in found.agents[0].required[0].reason


def weighted(own, weights):
    return dataclasses.replace(own, weights={("s", task): weight for task, weight in weights.items()})


def with_model(own, model):
    settings = dict.fromkeys(
        ("agent_loop", "model_served", "thinking", "thinking_sent", "tool_settings", "approvals"), "-"
    )
    settings |= {"temperature": "-", "sandbox": "-", "sandbox_runtime": "-", "source": "run", "model": model}
    return dataclasses.replace(own, runs=(dataclasses.replace(own.runs[0], settings={"a": settings}),))


@pytest.mark.parametrize(
    ("basis", "outcome"),
    [(None, "information"), ("output_tokens", "information"), ("cost_usd", "regressed")],
)
def test_efficiency_against_a_reference_in_tokens_decides_nothing_for_another_model(
    side, verdict, rule, basis, outcome
):
    efficiency = Metric(
        name="efficiency",
        meaning="s L / C",
        unit="share",
        better="higher",
        low=0,
        high=1,
        uses_reference=True,
    )
    own = tasks(80, [1])
    runs = [
        dataclasses.replace(
            with_model(side(own, metrics={"efficiency": tasks(80, [value])}), model), reference_basis=basis
        )
        for value, model in ((0.2, "new"), (1.0, "old"))
    ]
    success = Metric(name="success", meaning="passed", unit="share", better="higher", low=0, high=1)
    declared = {"outcome": (success, efficiency)}
    found = verdict(*runs, rule(), rule("efficiency"), declared=declared)
    assert [metric.outcome for metric in found.agents[0].metrics] == ["pass", outcome]
    same = verdict(with_model(runs[0], "old"), runs[1], rule(), rule("efficiency"), declared=declared)
    assert same.outcome == "regressed"
