"""Runs that cannot be compared are told from runs that got worse, and never pass."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from evalkit.gate.policy import RequiredTask
from evalkit.gate.side import Side
from evalkit.scoring.scored_trials import Column, ScoredTrials


def tasks(n=80, own=(1, 1)):
    return {f"t{place:03}": list(own) for place in range(n)}


def refused(found, told):
    assert found.outcome == "not comparable"
    assert found.exit_code() == found.exit_code(strict=True) == 5
    assert found.headline.startswith("NOT COMPARABLE: ")
    assert told in found.headline
    assert found.advice


def without(side: Side, *, last: int) -> Side:
    """As the side, its last trials gone, though they were planned."""
    kept = len(side.scored.trials) - last
    columns = {
        key: dataclasses.replace(own, values=own.values[:kept]) for key, own in side.scored.columns.items()
    }
    return dataclasses.replace(
        side,
        scored=ScoredTrials(side.scored.trials[:kept], columns, {}),
        run_of=side.run_of[:kept],
        graders=side.graders[:kept],
        numbers={key: Column(own.values[:kept]) for key, own in side.numbers.items()},
    )


def test_a_run_without_trials(side, verdict):
    refused(verdict(side({}), side(tasks())), "the candidate, run, has no trials")
    refused(verdict(side(tasks()), side({})), "the baseline, run, has no trials")


@pytest.mark.parametrize("role", ["candidate", "baseline"])
def test_a_planned_trial_that_is_not_there(side, verdict, role):
    whole = side(tasks())
    sides = [whole, without(whole, last=1)]
    found = verdict(*(sides[::-1] if role == "candidate" else sides))
    refused(found, f"1 of 160 planned trials of the {role} is not there: s/t079, epoch 2, a")


def test_a_trial_that_is_there_twice(side, verdict):
    whole = side(tasks())
    double = [*whole.scored.trials[:-1], dataclasses.replace(whole.scored.trials[0], trial_id="again")]
    scored = ScoredTrials(double, whole.scored.columns, {})
    refused(
        verdict(dataclasses.replace(whole, scored=scored), whole), "1 trial of the candidate is there twice"
    )


def test_too_much_that_is_unscored(side, verdict):
    some = tasks() | {f"t{place:03}": [1, None] for place in range(9)}
    refused(verdict(side(some), side(tasks())), "9 of 160 trials of a in the candidate are unscored (5.62 %)")
    refused(
        verdict(side(tasks(80, [None])), side(tasks())), "80 of 80 trials of a in the candidate are unscored"
    )


def test_a_task_that_has_changed(side, verdict):
    refused(verdict(side(tasks(), digests={"t004": "d2"}), side(tasks())), "the task of s/t004 has changed")


def test_a_task_that_has_changed_and_is_only_tried_under_faults(side, verdict, rule):
    sides = [side(tasks(), variant="flaky", digests={"t004": digest}) for digest in ("d2", "d1")]
    refused(verdict(*sides, rule(arm="faulted")), "the task of s/t004 has changed")


def test_a_grader_that_has_changed(side, verdict):
    whole = side(tasks())
    other = dataclasses.replace(whole, graders=("g2", *whole.graders[1:]))
    changed = dataclasses.replace(whole, graders=("g2",) * len(whole.graders))
    refused(verdict(other, whole), "the grader of s/t000 has changed")
    refused(verdict(changed, whole), "the grader of s/t000 has changed")


def test_a_suite_that_has_changed(side, verdict):
    refused(verdict(side(tasks(), suite_digest="s2"), side(tasks())), "the suite s has changed")


def test_tasks_that_were_left_out(side, verdict):
    fewer = verdict(side(tasks(70)), side(tasks(80)))
    refused(fewer, "a of the candidate did not try s/t070, s/t071, s/t072 and 7 more")
    refused(verdict(side(tasks(80)), side(tasks(70))), "a of the baseline did not try s/t070")


def test_only_shared_tasks_where_the_policy_says_so(side, verdict, only):
    changed = side(tasks(), digests={"t004": "d2"}, suite_digest="s2")
    found = verdict(changed, side(tasks(75)), suite="shared-tasks")
    assert found.outcome == "pass"
    assert only(found).n == 74
    assert "left out, as their content or grader has changed: s/t004" in found.warnings


def test_no_shared_task_is_never_a_pass_whatever_the_policy_asks(side, verdict):
    mine, theirs = side({"x": [1]}), side({"y": [1]})
    found = verdict(
        mine,
        theirs,
        metrics=(),
        zero_tolerance=(),
        suite="shared-tasks",
        require=(RequiredTask(task="x", passed=1, of=1),),
    )
    refused(found, "have no task in common that can be compared")


def test_scores_of_another_version(side, verdict):
    refused(
        verdict(side(tasks(), versions=("2",)), side(tasks())),
        "success of the two sides rests on another version of the scorer (1, now 2)",
    )


def test_scores_on_another_reference(side, verdict):
    whole = side(tasks())
    columns = {key: dataclasses.replace(own, references={"r2"}) for key, own in whole.scored.columns.items()}
    other = dataclasses.replace(whole, scored=ScoredTrials(whole.scored.trials, columns, {}))
    first = {key: dataclasses.replace(own, references={"r1"}) for key, own in whole.scored.columns.items()}
    base = dataclasses.replace(whole, scored=ScoredTrials(whole.scored.trials, first, {}))
    refused(verdict(other, base), "success of the two sides rests on other reference costs")


@pytest.mark.parametrize("role", ["candidate", "baseline"])
def test_a_metric_that_one_side_never_has(side, verdict, rule, role):
    having = side(tasks(), metrics={"errors": tasks(80, [0, 0])})
    sides = [side(tasks()), having]
    found = verdict(*(sides if role == "candidate" else sides[::-1]), rule("errors", 0.1, "rise"))
    refused(found, f"the {role} has no value of errors at all")


def test_a_metric_that_is_unknown_everywhere(side, verdict, rule):
    own = tasks(80, [None, None])
    sides = [side(tasks(), metrics={"errors": own}) for _ in range(2)]
    refused(verdict(*sides, rule("errors", 0.1, "rise")), "the candidate has no value of errors at all")


def test_agents_that_nothing_matches(side, verdict):
    ours = [side(tasks(), agent=agent) for agent in ("a", "b")]
    both = merged(*ours)
    refused(
        verdict(both, merged(*(side(tasks(), agent=agent) for agent in ("c", "d")))), "no agent is in both"
    )
    refused(verdict(both, side(tasks(), agent="a")), "the agent b of the candidate is not in the baseline")
    refused(verdict(side(tasks(), agent="a"), both), "the agent b of the baseline is not in the candidate")


def test_a_map_says_which_agents_belong_together(side, verdict):
    both = merged(*(side(tasks(), agent=agent) for agent in ("a", "b")))
    others = merged(*(side(tasks(), agent=agent) for agent in ("c", "d")))
    found = verdict(both, others, mapped={"a": "d", "b": "c"})
    assert found.outcome == "pass"
    assert [(own.candidate, own.baseline) for own in found.agents] == [("a", "d"), ("b", "c")]


def test_one_agent_on_each_side_matches_whatever_its_id(side, verdict):
    assert verdict(side(tasks(), agent="new"), side(tasks(), agent="old")).outcome == "pass"


def test_tasks_without_digests_are_compared_with_a_warning(side, verdict):
    bare = side(tasks(), digests=dict.fromkeys(tasks(), None), suite_digest=None)
    found = verdict(bare, bare)
    assert found.outcome == "pass"
    assert any("by their ids only" in warning for warning in found.warnings)


def test_failing_trials_whose_outcome_was_lost(side, verdict):
    """What is missing is not random: here it is what failed."""
    broken = tasks() | {f"t{place:03}": [0, 0] for place in range(20)}
    kept = {task: None if own == [0, 0] else own for task, own in broken.items()}
    lost = side(broken, metrics={"success": {task: own for task, own in kept.items() if own is not None}})
    refused(verdict(lost, side(tasks())), "40 of 160 scored trials of the candidate have no value of success")


def test_costs_that_are_unknown_of_too_many_trials(side, verdict, rule):
    some = {task: own for place, (task, own) in enumerate(tasks(80, [900, 900]).items()) if place % 4}
    sides = [side(tasks(), numbers={"output_tokens": own}) for own in (some, tasks(80, [1000, 1000]))]
    refused(
        verdict(*sides, rule("output_tokens", 1.15, "ratio")),
        "have no value of output_tokens, and 5 % may lack",
    )


def test_an_amount_below_nothing(side, verdict, rule):
    sides = [side(tasks(), numbers={"output_tokens": tasks(80, [tokens] * 2)}) for tokens in (3000, -1)]
    refused(verdict(*sides, rule("output_tokens", 1.15, "ratio")), "output_tokens is below 0 in the baseline")


def test_trials_that_were_not_planned(side, verdict):
    whole, more = side(tasks()), side(tasks(80, [1, 1, 1]))
    found = verdict(dataclasses.replace(more, runs=whole.runs), whole)
    refused(found, "80 trials of the candidate are not part of its plan: s/t000, epoch 3, a")


def test_a_weight_that_only_the_candidate_knows(side, verdict):
    light = dataclasses.replace(side(tasks()), weights={("s", "t003"): 0.0})
    refused(verdict(light, side(tasks())), "1 task has another weight than in the baseline, such as s/t003")
    refused(
        verdict(side(tasks()), light, suite="shared-tasks"), "1 task has another weight than in the baseline"
    )


def test_variants_that_nothing_is_asked_of_do_not_dilute_what_is_unscored(side, verdict):
    clean = side(tasks() | {f"t{place:03}": [1, None] for place in range(16)})
    faulted = side(tasks(80, [1] * 10), variant="flaky")
    found = verdict(merged(clean, faulted), side(tasks()))
    refused(found, "16 of 160 trials of a in the candidate are unscored (10 %)")


def test_a_task_of_which_nothing_is_scored_has_no_other_grader(side, verdict, only):
    some = side(tasks() | {"t003": [None, None]})
    graders = tuple(None if own.status == "unscored" else "g1" for own in some.scored.trials)
    found = verdict(dataclasses.replace(some, graders=graders), side(tasks()))
    assert (found.outcome, only(found).n) == ("pass", 79)


def test_a_grader_that_nobody_knows_is_warned_about(side, verdict):
    whole = side(tasks())
    found = verdict(dataclasses.replace(whole, graders=(None,) * 160), whole)
    assert any("which grader judged" in warning for warning in found.warnings)


def test_a_name_with_line_breaks_stays_on_its_line(side, verdict):
    hostile = "x\n::error::pwn"
    found = verdict(side(tasks()), side(tasks() | {hostile: [1, 1]}))
    refused(found, "did not try s/x ::error::pwn")
    assert not any("\n" in problem.what + problem.hint for problem in found.problems)


def merged(*sides: Side) -> Side:
    """The agents of several sides in one run."""
    first = sides[0]
    keys = first.scored.columns
    columns = {
        key: Column(np.concatenate([own.scored.columns[key].values for own in sides]), None, {"1"})
        for key in keys
    }
    trials = [trial for own in sides for trial in own.scored.trials]
    planned = frozenset(key for own in sides for key in own.runs[0].planned or ())
    return dataclasses.replace(
        first,
        runs=(dataclasses.replace(first.runs[0], planned=planned),),
        scored=ScoredTrials(trials, columns, {}),
        run_of=np.zeros(len(trials), dtype=np.int64),
        graders=("g1",) * len(trials),
        numbers={
            key: Column(np.concatenate([own.numbers[key].values for own in sides])) for key in first.numbers
        },
    )
