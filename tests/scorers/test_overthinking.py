"""Progress, overthinking and pondering of trials that can be worked out by hand."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import Trial
from evalkit.scoring.facts import TaskFacts
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Act, Event, Prompt, Think

ENOUGH = TrialReference(basis="output_tokens", cost=200.0, digest="d")
CHECKS = {"builds": True, "sorted": True}


@pytest.fixture(scope="session")
def overthinker(row):
    """Right after 400 of 1,000 tokens, and goes on: it thinks, checks what is right already, and submits.

    Generations of 100, 300, 500 and 100 tokens, of which 60, 200, 450 and 40 are thinking.
    """

    def make(**fields) -> Trial:
        counts = ((100, 60), (300, 200), (500, 450), (100, 40))
        lines = ("ls", "echo 1 > /app/out.txt", "cat /app/out.txt", None)
        steps: list[Prompt | Think | Act | Event] = [Prompt(step=0, role="user", text="Write the file.")]
        for n, ((tokens, thinking), line) in enumerate(zip(counts, lines, strict=True)):
            think = len(steps)
            steps.append(
                Think(
                    step=think,
                    output_tokens=tokens,
                    reasoning_tokens=thinking,
                    reasoning="Wait, is it right? Let me look at the file again to be sure.",
                    reasoning_visibility="full",
                )
            )
            tool = "bash" if line else "submit"
            arguments = json.dumps({"command": line}) if line else "{}"
            steps.append(
                Act(
                    step=think + 1,
                    think_step=think,
                    call_index=0,
                    tool=tool,
                    arguments=arguments,
                    exit_code=0 if line else None,
                    observation=f"seen {n}",
                    workspace_digest=("a", "b", "b", None)[n],
                )
            )
        for step, passed in ((2, False), (4, True), (6, True)):
            detail = {"of_step": step, "passed": passed, "checks": {"builds": True, "sorted": passed}}
            steps.append(Event(step=len(steps), event="checkpoint", detail=json.dumps(detail)))
        told = {"output_tokens": 1000, "reasoning_tokens": 750, "cost_usd": 0.02, "checks": CHECKS, **fields}
        return Trial(row=row(**told), steps=tuple(steps), reference=ENOUGH)

    return make


def test_overthinking(overthinker, scores):
    found = scores("overthinking", overthinker())
    assert {name: score.value for name, score in found.items()} == {
        "starved": 0,
        "solved": 1,
        "tokens_spent": 1000,
        "usd_spent": 0.02,
        "thinking_share": 0.75,
        "stopping_efficiency": 0.4,
        "token_efficiency": 0.2,
        "overthinking_auc": 1 - 1000 / 3200,
        "overspend": pytest.approx(math.log(5)),
        "path_efficiency": 0.5,
        "waste": pytest.approx(math.log(5)),
        "waste_path": pytest.approx(math.log(2)),
        "waste_path_thinking": pytest.approx(math.log(2) * 260 / 400),
        "waste_path_visible": pytest.approx(math.log(2) * 140 / 400),
        "waste_stop": pytest.approx(math.log(2.5)),
        "waste_stop_thinking": pytest.approx(math.log(2.5) * 490 / 600),
        "waste_stop_visible": pytest.approx(math.log(2.5) * 110 / 600),
    }
    assert found["token_efficiency"].reason == "1000 output_tokens, reference 200"
    assert found["stopping_efficiency"].reason == "400 of 1000 tokens until it would first have passed"


def test_a_failure_spends_and_is_worth_nothing(overthinker, values):
    found = values("overthinking", overthinker(status="failed"))
    assert {name: value for name, value in found.items() if value} == {
        "tokens_spent": 1000,
        "usd_spent": 0.02,
        "thinking_share": 0.75,
    }
    assert found["token_efficiency"] == found["stopping_efficiency"] == found["overthinking_auc"] == 0
    assert "overspend" not in found


def test_a_failure_did_not_stop_in_time_where_its_task_has_checkpoints_at_all(row, values):
    """Without any at its task, a success has no stopping efficiency, so that a mean would be over failures only."""
    failed = Trial(row=row(status="failed"), steps=(Think(step=0, output_tokens=10),))
    assert "stopping_efficiency" not in values("overthinking", failed)
    assert (
        values("overthinking", dataclasses.replace(failed, had_checkpoints=True))["stopping_efficiency"] == 0
    )


def test_tampering_is_no_success(overthinker, values):
    finding = Finding(code="T1", level="confirmed", what="the tests were edited")
    own = overthinker()
    event = Event(step=len(own.steps), event="tampering", detail=finding.to_json())
    tampered = dataclasses.replace(own, steps=(*own.steps, event))
    assert values("overthinking", tampered)["token_efficiency"] == 0
    assert values("overthinking", tampered)["solved"] == 0


def test_without_a_reference_what_rests_on_none_is_known_all_the_same(overthinker, values):
    found = values("overthinking", dataclasses.replace(overthinker(), reference=None))
    assert found["stopping_efficiency"] == 0.4
    assert "token_efficiency" not in found


def test_the_first_to_solve_a_task_is_worth_1_and_provisional(overthinker, scores):
    unsolved = dataclasses.replace(ENOUGH, cost=None, is_unsolved=True, provisional=True)
    found = scores("overthinking", dataclasses.replace(overthinker(), reference=unsolved))
    assert found["token_efficiency"].value == 1
    assert found["token_efficiency"].label == "provisional"
    failed = scores("overthinking", dataclasses.replace(overthinker(status="failed"), reference=unsolved))
    assert "token_efficiency" not in failed


def test_where_thinking_was_not_counted_all_generated_tokens_are_exact(overthinker, values):
    own = overthinker(reasoning_tokens=None)
    blind = dataclasses.replace(
        own,
        steps=tuple(
            dataclasses.replace(step, reasoning_tokens=None) if isinstance(step, Think) else step
            for step in own.steps
        ),
    )
    found = values("overthinking", blind)
    assert found["token_efficiency"] == 0.2
    assert found["waste_stop"] == pytest.approx(math.log(2.5))
    assert not {"thinking_share", "waste_stop_thinking"} & set(found)


def test_where_nothing_was_counted_there_are_bounds(row, values):
    steps = (Think(step=0, text="word " * 300), Think(step=1, text="done"))
    blind = Trial(
        row=row(reasoning_visibility="encrypted", thinking="tokens:1000"), steps=steps, reference=ENOUGH
    )
    found = values("overthinking", blind)
    assert "token_efficiency" not in found
    assert found["token_efficiency_high"] == pytest.approx(200 / 301)
    assert found["token_efficiency_low"] == pytest.approx(200 / (1500 + 4 + 2 * 64 + 2000))
    failed = dataclasses.replace(blind, row=row(status="failed", reasoning_visibility="encrypted"))
    assert values("overthinking", failed)["token_efficiency_high"] == 0
    assert "token_efficiency" not in values("overthinking", failed)
    hidden = dataclasses.replace(blind, row=row(reasoning_visibility="encrypted"))
    assert values("overthinking", hidden)["token_efficiency_low"] == 0


def test_impossible_twins_count_nowhere(overthinker, values):
    assert values("overthinking", overthinker(variant="twin")) == {"starved": 0}


def test_a_generation_that_a_limit_ended_is_starved(row, scores):
    steps = (Think(step=0, finish_reason="length", reasoning="..."), Think(step=1, text="hello"))
    found = scores("overthinking", Trial(row=row(status="failed"), steps=steps))["starved"]
    assert (found.value, found.evidence) == (1, (0,))


def test_other_bases(overthinker, values):
    usd = dataclasses.replace(ENOUGH, basis="cost_usd", cost=0.005)
    assert (
        values("overthinking", dataclasses.replace(overthinker(), reference=usd))["token_efficiency"] == 0.25
    )
    thinking = dataclasses.replace(ENOUGH, basis="reasoning_tokens", cost=150.0)
    found = values("overthinking", dataclasses.replace(overthinker(), reference=thinking))
    assert found["token_efficiency"] == 200 / 800
    seconds = dataclasses.replace(ENOUGH, basis="agent_s", cost=10.0)
    timed = dataclasses.replace(overthinker(agent_s=40.0), reference=seconds)
    assert values("overthinking", timed)["token_efficiency"] == 0.25


@given(st.integers(0, 2000), st.integers(0, 3))
def test_tokens_more_at_any_step_never_raise_it(overthinker, values, more, place):
    own = overthinker()
    think = own.thinks[place]
    grown = dataclasses.replace(think, output_tokens=think.output_tokens + more)
    steps = tuple(grown if step is think else step for step in own.steps)
    slower = dataclasses.replace(
        own, steps=steps, row=dataclasses.replace(own.row, output_tokens=1000 + more)
    )
    before, after = values("overthinking", own), values("overthinking", slower)
    assert after["token_efficiency"] <= before["token_efficiency"]
    assert (after["token_efficiency"] < before["token_efficiency"]) == (more > 0)
    if place > 1:
        assert after["path_efficiency"] == before["path_efficiency"]


@given(st.integers(0, 3), st.integers(0, 100), st.integers(0, 40))
def test_splitting_a_generation_changes_no_cost(overthinker, values, place, tokens, thinking):
    """What was one generation is two, the first of which calls nothing."""
    own = overthinker()
    think = own.thinks[place]
    numbers = {step.step: step.step + (step.step >= think.step) for step in own.steps}
    steps: list[object] = []
    for step in own.steps:
        moved = dataclasses.replace(step, step=numbers[step.step])
        if isinstance(moved, Act):
            moved = dataclasses.replace(moved, think_step=numbers[step.think_step])
        if isinstance(moved, Event):
            detail = json.loads(step.detail)
            moved = dataclasses.replace(
                moved, detail=json.dumps(detail | {"of_step": numbers[detail["of_step"]]})
            )
        if step is think:
            first = dataclasses.replace(think, output_tokens=tokens, reasoning_tokens=thinking)
            rest = (think.output_tokens - tokens, think.reasoning_tokens - thinking)
            steps.append(first)
            moved = dataclasses.replace(moved, output_tokens=rest[0], reasoning_tokens=rest[1])
        steps.append(moved)
    split = dataclasses.replace(own, steps=tuple(steps))
    assert values("overthinking", split) == pytest.approx(values("overthinking", own))
    assert values("progressing", split) == pytest.approx(values("progressing", own))


def test_progress_of_the_overthinker(overthinker, values):
    """Half of the checks from 10 % of its tokens on, all from 40 % on."""
    found = values("progressing", overthinker())
    assert found == {
        "state_revisits": 0,
        "achieved_then_lost": 0,
        "progress_auc": pytest.approx(0.3 * 0.5 + 0.6),
        "progress_lost": 0,
        "longest_stall": pytest.approx(0.6),
    }


def test_who_changes_nothing_stays_where_it_began(row, values):
    """One of two checks passes from the start. Left out, its agent would be measured at the other tasks only."""
    still = Trial(
        row=row(status="failed", checks={"builds": True, "sorted": False}),
        steps=(Think(step=0, output_tokens=10),),
        task=TaskFacts(passes_at_start=("builds",)),
    )
    assert values("progressing", still) == {"state_revisits": None}
    followed = dataclasses.replace(still, had_checkpoints=True)
    assert values("progressing", followed) == {
        "state_revisits": None,
        "achieved_then_lost": 0,
        "progress_auc": 0.5,
        "progress_lost": 0,
        "longest_stall": 1,
    }
    twin = dataclasses.replace(followed, row=dataclasses.replace(still.row, variant="twin"))
    assert values("progressing", twin) == {"state_revisits": None}
    told = Event(step=1, event="checkpoint", detail='{"of_step":0,"deliverables":null,"error":"too big"}')
    unknown = dataclasses.replace(followed, steps=(*still.steps, told))
    assert values("progressing", unknown) == {"state_revisits": None}


def test_what_was_achieved_is_lost(overthinker, scores):
    found = scores("progressing", overthinker(status="failed", checks={"builds": True, "sorted": False}))
    assert (found["achieved_then_lost"].value, found["achieved_then_lost"].evidence) == (1, (4, 6))
    assert found["progress_lost"].value == 0.5


def test_pondering(overthinker, scores):
    """Each generation says the same 14 words, with 11 grams; one `Wait` in each."""
    found = scores("pondering", overthinker())
    assert {name: score.value for name, score in found.items()} == {
        "analysis_paralysis": 0,
        "longest_paralysis": 0,
        "premature_disengagement": 0,
        "thinking_per_effective_action": 187.5,
        "repeated_4grams": 0.75,
        "thinking_zlib_ratio": found["thinking_zlib_ratio"].value,
        "thinking_overlap": 1,
        "switches_per_1k": pytest.approx(1000 / 14),
        "foreign_letters": 0,
        "script_switches_per_1k": 0,
        "symbol_runs_per_1k": 0,
    }
    assert found["premature_disengagement"].label == "verified"
    assert found["thinking_overlap"].evidence == (1, 3)


def test_thinking_that_leads_to_no_call_at_all_is_all_in_vain(row, values):
    """H / max(1, 0); but a plain dialogue, which ends by an answer, has no tools to act with."""
    steps = (
        Think(step=0, output_tokens=900, reasoning_tokens=800),
        Think(step=1, output_tokens=9, reasoning_tokens=7),
    )
    stuck = Trial(row=row(status="failed", stop_reason="gave_up"), steps=steps)
    assert values("pondering", stuck)["thinking_per_effective_action"] == 807
    dialogue = Trial(row=row(stop_reason="submitted"), steps=steps)
    assert "thinking_per_effective_action" not in values("pondering", dialogue)


def test_a_budget_is_kept_or_not(overthinker, values):
    found = values("pondering", overthinker(thinking="tokens:200"))
    assert (found["budget_adherence"], found["budget_overshoot"]) == (0.75, 62.5)


def test_calls_against_those_that_are_enough(overthinker, values):
    own = dataclasses.replace(overthinker(), reference_calls=2.0)
    assert values("looping", own)["calls_vs_reference"] == 2
