"""Which agents of a run are a sweep, in which order its levels are, and what is advised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.models.thinking import Thinking
from evalkit.scoring.routed import routed
from evalkit.scoring.scored_trials import read_scored
from evalkit.scoring.sweep import asked_order, sweeps
from evalkit.scoring.swept_trial import SweptTrial, family_of, swept_trials
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial

Made, Finished = Callable[..., Trial], Callable[..., Path]
NEEDS = {task: 300 if task < 10 else 1500 for task in range(20)}
"""Tokens that each task takes; the first half is easy."""
LEVELS = {"off": 100, "tokens:512": 512, "tokens:2048": 2048, "tokens:8192": 8192}


@pytest.fixture
def swept(made: Made, finished: Finished) -> Callable[..., tuple[SweptTrial, ...]]:
    """An agent that obeys its budget and solves a task where it is above what the task needs."""

    def make(levels: dict[str, int] = LEVELS, epochs: int = 1, **columns: object) -> tuple[SweptTrial, ...]:
        trials = [
            made(
                f"{place}.{task}.{epoch}",
                task_id=f"t{task:02}",
                epoch=epoch,
                agent=f"react/m@{level}" if level != "default" else "react/m",
                thinking=level,
                thinking_sent=level,
                thinking_honoured=level != "off" or task > 0,
                model="m",
                difficulty="easy" if task < 10 else "hard",
                skills=("git",) if task < 3 else (),
                output_tokens=budget,
                status="passed" if budget >= need else "failed",
                **columns,
            )
            for place, (level, budget) in enumerate(levels.items())
            for task, need in NEEDS.items()
            for epoch in range(1, epochs + 1)
        ]
        run = load(finished(*trials, name=f"run{epochs}"))
        return swept_trials(run, read_scored(run))

    return make


def test_levels_are_in_order_of_what_was_asked_and_the_smallest_that_is_enough_is_found(swept):
    (told,) = sweeps(swept())
    assert told.family == "react/m"
    assert [level.asked for level in told.levels] == ["off", "tokens:512", "tokens:2048", "tokens:8192"]
    assert [level.estimate.value for level in told.levels] == [0, 0.5, 1, 1]
    assert told.enough.asked == "tokens:2048"
    assert told.levels[1].result.marginal == pytest.approx(0.5 / 0.412)
    assert told.levels[3].result.excess == pytest.approx(0.75)
    assert told.levels[1].result.lost == tuple(f"s/t{task}" for task in range(10, 20))


def test_levels_of_unlike_kinds_are_in_order_of_the_tokens_that_they_took(swept):
    (told,) = sweeps(swept({"default": 2048, "effort:high": 8192, "tokens:512": 512}))
    assert not told.in_order_asked
    assert [level.asked for level in told.levels] == ["tokens:512", "default", "effort:high"]


def test_more_epochs_are_no_more_tasks(swept):
    (once,), (thrice,) = sweeps(swept()), sweeps(swept(epochs=3))
    assert thrice.curve == once.curve
    assert [level.trials for level in thrice.levels] == [60] * 4


def test_levels_for_which_the_same_nearest_was_taken_stay_apart_and_are_named(made, finished):
    taken = {"off": "effort:low", "effort:minimal": "effort:low", "effort:low": None, "effort:high": None}
    trials = [
        made(
            f"{level}{task}",
            task_id=f"t{task}",
            agent=f"react/m@{Thinking(level, instead)}",
            thinking=level,
            thinking_taken=instead,
            thinking_sent=instead or level,
            output_tokens=10,
            status="passed",
        )
        for level, instead in taken.items()
        for task in range(6)
    ]
    run = load(finished(*trials))
    (told,) = sweeps(swept_trials(run, read_scored(run)))
    assert told.family == "react/m"
    assert [level.name for level in told.levels] == [
        "off~effort:low",
        "effort:minimal~low",
        "effort:low",
        "effort:high",
    ]
    assert [level.trials for level in told.levels] == [6] * 4
    assert {given: [level.asked for level in alike] for given, alike in told.alike.items()} == {
        "effort:low": ["off", "effort:minimal", "effort:low"]
    }


def test_budgets_that_were_not_kept_to_are_counted(swept):
    (told,) = sweeps(swept())
    assert [(level.broken, level.judged) for level in told.levels] == [(1, 20), (0, 20), (0, 20), (0, 20)]


def test_one_level_and_unscored_runs_are_no_sweep(swept, made, finished):
    assert sweeps(swept({"off": 100})) == ()
    run = load(finished(*(made(a, agent=a, thinking="off", status="unscored") for a in "ab"), name="none"))
    assert sweeps(swept_trials(run, read_scored(run))) == ()


def test_a_level_without_known_tokens_is_left_out_and_named(made, finished):
    trials = [
        made(f"{level}{task}", task_id=f"t{task}", agent=f"a@{level}", thinking=level, output_tokens=tokens)
        for level, tokens in (("off", 10), ("effort:low", 20), ("effort:high", None))
        for task in range(6)
    ]
    run = load(finished(*trials))
    (told,) = sweeps(swept_trials(run, read_scored(run)))
    assert [level.asked for level in told.levels] == ["off", "effort:low"]
    assert told.left_out == ("a@effort:high",)


@pytest.mark.parametrize(
    ("agent", "asked", "family"),
    [
        ("react/m@off", "off", "react/m"),
        ("react/m@effort:xhigh~high+terse#1a@temperature:0.2", "effort:xhigh", "react/m+terse#1a@temperature:0.2"),
        ("react/m@off~tokens:128", "off", "react/m"),
        ("react/vertex/m@off-by-one@off", "off", "react/vertex/m@off-by-one"),
        ("react/m@tokens:20", "tokens:2", "react/m@tokens:20"),
        ("react/m", "default", "react/m"),
        ("imported", None, "imported"),
    ],
)  # fmt: skip
def test_an_agent_is_of_the_family_of_its_id_without_the_level(agent, asked, family):
    assert family_of(agent, asked) == family


def test_efforts_and_numbers_have_an_order_of_their_own():
    assert asked_order(["effort:high", "off", "effort:low"]) == {"off": 0, "effort:low": 2, "effort:high": 4}
    assert asked_order(["tokens:9", "off"]) == {"off": 0, "tokens:9": 9}
    assert asked_order(["tokens:9", "effort:low"]) is None
    assert asked_order(["off", "dynamic"]) is None


def test_easy_tasks_are_for_the_fast_level_and_hard_ones_for_the_slow(swept):
    told = {(one.by, one.group): one for one in routed(swept())}
    easy, hard = told["difficulty", "easy"].advice, told["difficulty", "hard"].advice
    assert (easy.agent, easy.n) == ("react/m@tokens:512", 10)
    assert hard.agent == "react/m@tokens:2048"
    assert not hard.is_cheapest
    assert told["skill", "git"].advice.silence == "too few tasks"


@pytest.mark.parametrize(
    ("levels", "least"),
    [
        (("off", "tokens:128", "tokens:1024", "tokens:4096"), "tokens:128"),
        (("off", "effort:low", "effort:high", "effort:medium"), "effort:low"),
    ],
)
def test_of_levels_that_cost_the_same_the_smaller_one_is_enough(made, finished, levels, least):
    """Easy tasks need less than any level allows, but none at all is not enough."""
    trials = [
        made(f"{level}{task}", task_id=f"t{task}", agent=f"m@{level}", thinking=level, model="m", difficulty="easy",
             output_tokens=6 if level == "off" else 123, status="failed" if level == "off" else "passed")
        for level in levels for task in range(7)
    ]  # fmt: skip
    run = load(finished(*trials))
    (told,) = routed(swept_trials(run, read_scored(run)))
    assert (told.advice.agent, told.advice.worse) == (f"m@{least}", ("m@off",))


def test_agents_of_several_models_are_a_choice_only_by_price(made, finished):
    def trials(usd: float | None, name: str) -> tuple[SweptTrial, ...]:
        rows = [
            made(f"{model}{task}", task_id=f"t{task}", agent=model, model=model, difficulty="easy",
                 output_tokens=tokens, cost_usd=usd and usd * price)
            for model, tokens, price in (("big", 10, 5), ("small", 900, 1)) for task in range(6)
        ]  # fmt: skip
        run = load(finished(*rows, name=name))
        return swept_trials(run, read_scored(run))

    (told,) = routed(trials(0.01, "priced"))
    assert (told.basis, told.advice.agent) == ("cost_usd", "small")
    assert routed(trials(None, "unpriced")) == ()
