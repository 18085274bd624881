"""What always holds for the token-efficiency family, as scorers give it and runs sum it up."""

from __future__ import annotations

import dataclasses
import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalkit import Trial
from evalkit.cli.summing import run_summary
from evalkit.project import find_project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial as TrialRow
from evalkit.trajectory.writer import RunWriter

FAMILY = ("overthinking", "progressing", "pondering")
FLOOR = 50
CALL = 20
"""Tokens of a call: more than it has words, and fewer than it has bytes."""


@dataclass(frozen=True)
class Played:
    """What happened in one trial."""

    tokens: tuple[tuple[int, int], ...]
    """Of each generation: of thinking, and visible ones. Each calls a tool once."""
    states: tuple[tuple[int, bool], ...] = ()
    """Calls after which a state was graded, and whether it passed."""
    passed: bool = True
    agent: str = "a"
    task: str = "k"

    @property
    def cost(self) -> int:
        return sum(map(sum, self.tokens))

    @property
    def until(self) -> int:
        """Tokens until it would have passed for the first time."""
        first = next((call for call, passed in self.states if passed), len(self.tokens) - 1)
        return sum(map(sum, self.tokens[: first + 1]))

    def steps(self) -> tuple[Step, ...]:
        found: list[Step] = []
        for number, (thinking, visible) in enumerate(self.tokens):
            words = " ".join(f"w{number}" for _ in range(visible // 8))
            found.append(
                Think(
                    step=2 * number,
                    text=words,
                    output_tokens=thinking + visible,
                    reasoning_tokens=thinking,
                    reasoning_visibility="encrypted",
                )
            )
            found.append(
                Act(
                    step=2 * number + 1,
                    think_step=2 * number,
                    call_index=0,
                    tool="bash",
                    arguments='{"command":"ls"}',
                    exit_code=0,
                    workspace_digest=str(number % 3),
                )
            )
        for call, passed in self.states:
            checks = {"one": True, "two": passed}
            detail = json.dumps({"of_step": 2 * call + 1, "passed": passed, "checks": checks})
            found.append(Event(step=len(found), event="checkpoint", detail=detail))
        return tuple(found)

    def columns(self) -> dict[str, object]:
        return {
            "status": "passed" if self.passed else "failed",
            "checks": {"one": True, "two": self.passed},
            "output_tokens": self.cost,
            "reasoning_tokens": sum(thinking for thinking, _ in self.tokens),
        }


EITHER = st.booleans()


@st.composite
def played(draw, *, passed=EITHER, checkpoints=EITHER, agents="ab", tasks="k") -> Played:
    tokens = draw(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), min_size=1, max_size=5))
    followed = draw(checkpoints)
    after = draw(st.sets(st.integers(0, len(tokens) - 1), min_size=1)) if followed else ()
    return Played(
        tokens=tuple(tokens),
        states=tuple((call, draw(st.booleans())) for call in sorted(after)),
        passed=draw(passed),
        agent=draw(st.sampled_from(agents)),
        task=draw(st.sampled_from(tasks)),
    )


SUCCESS = played(passed=st.just(True))
FOLLOWED = played(passed=st.just(True), checkpoints=st.just(True))
REFERENCES = st.integers(1, 5000)


@pytest.fixture(scope="session")
def of(row):
    """The trial of what was played, against a reference."""

    def make(one: Played, reference: float | None) -> Trial:
        known = None
        if reference is not None:
            known = TrialReference(basis="output_tokens", cost=float(reference), digest="d")
        return Trial(row=row(**one.columns()), steps=one.steps(), reference=known)

    return make


@given(played(), REFERENCES)
def test_every_score_is_in_its_range_and_a_failure_is_worth_nothing(of, scores, one, reference):
    """The fixture checks the declared ranges."""
    for name in FAMILY:
        scores(name, of(one, reference))
    if not one.passed:
        found = scores("overthinking", of(one, reference))
        worth = {name for name in found if name.startswith(("token_eff", "overthinking_auc"))}
        assert {found[name].value for name in worth} == {0.0}
        assert not {"path_efficiency", "waste", "overspend"} & found.keys()
        assert ("stopping_efficiency" in found) == bool(one.states)
        assert not one.states or found["stopping_efficiency"].value == 0


@given(played(), REFERENCES)
def test_token_efficiency_is_1_exactly_for_a_success_within_the_reference(of, values, one, reference):
    found = values("overthinking", of(one, reference))["token_efficiency"]
    assert (found == 1) == (one.passed and max(one.cost, FLOOR) <= max(reference, FLOOR))


@given(played(), REFERENCES, st.integers(1, 3000), st.data())
def test_more_tokens_never_raise_it_and_lower_it_above_the_reference(of, values, one, reference, more, data):
    place = data.draw(st.integers(0, len(one.tokens) - 1))
    is_thinking = data.draw(st.booleans())
    tokens = list(one.tokens)
    thinking, visible = tokens[place]
    tokens[place] = (thinking + more, visible) if is_thinking else (thinking, visible + more)
    grown = dataclasses.replace(one, tokens=tuple(tokens))
    before, after = (values("overthinking", of(own, reference))["token_efficiency"] for own in (one, grown))
    assert after <= before
    if one.passed and grown.cost > max(reference, FLOOR):
        assert after < before


@given(FOLLOWED, st.integers(FLOOR, 5000), st.integers(1, 50))
def test_the_scale_does_not_matter_above_the_floor(of, values, one, reference, scale):
    """Each part of the cost is above the floor, too."""
    assume(one.until >= FLOOR)
    larger = dataclasses.replace(one, tokens=tuple((scale * h, scale * o) for h, o in one.tokens))
    counts = {"tokens_spent", "cost_of_pass"}
    before, after = (
        values("overthinking", of(one, reference)),
        values("overthinking", of(larger, scale * reference)),
    )
    for name in before.keys() - counts:
        assert after[name] == pytest.approx(before[name], abs=1e-9), name


@given(FOLLOWED, REFERENCES, st.integers(0, 900), st.integers(0, 900))
def test_waste_at_the_end_never_changes_the_path(of, values, one, reference, thinking, visible):
    assume(any(passed for _, passed in one.states))
    longer = dataclasses.replace(one, tokens=(*one.tokens, (thinking, visible)))
    before, after = (values("overthinking", of(own, reference)) for own in (one, longer))
    for name in ("path_efficiency", "waste_path"):
        assert after[name] == before[name]
    assert after["stopping_efficiency"] <= before["stopping_efficiency"]


@given(SUCCESS, REFERENCES)
def test_waste_adds_up_to_the_token_efficiency(of, values, one, reference):
    found = values("overthinking", of(one, reference))
    assert found["waste"] == pytest.approx(-math.log(found["token_efficiency"]), abs=1e-9)
    if one.states:
        parts = [
            found[f"waste_{part}_{share}"] for part in ("path", "stop") for share in ("thinking", "visible")
        ]
        assert math.fsum(parts) == pytest.approx(found["waste"], abs=1e-9)
        assert found["waste_path"] + found["waste_stop"] == pytest.approx(found["waste"], abs=1e-9)


@given(FOLLOWED, REFERENCES, st.data())
def test_splitting_a_generation_changes_no_cost(of, values, one, reference, data):
    """What was one generation is two: one that calls nothing, and its rest."""
    place = data.draw(st.integers(0, len(one.tokens) - 1))
    (thinking, visible) = one.tokens[place]
    first = (data.draw(st.integers(0, thinking)), data.draw(st.integers(0, visible)))
    steps: list[Step] = []
    for step in one.steps():
        moved = dataclasses.replace(step, step=step.step + (step.step > 2 * place))
        if isinstance(moved, Act) and step.step > 2 * place:
            moved = dataclasses.replace(moved, think_step=step.think_step + 1)
        if isinstance(moved, Event):
            told = json.loads(step.detail)
            told["of_step"] += told["of_step"] > 2 * place
            moved = dataclasses.replace(moved, detail=json.dumps(told))
        if step.step == 2 * place:
            half = dataclasses.replace(step, output_tokens=sum(first), reasoning_tokens=first[0])
            rest = (thinking + visible - sum(first), thinking - first[0])
            steps += [
                half,
                dataclasses.replace(
                    step, step=2 * place + 1, output_tokens=rest[0], reasoning_tokens=rest[1]
                ),
            ]
        else:
            steps.append(moved)
    whole = of(one, reference)
    split = dataclasses.replace(whole, steps=tuple(steps))
    for name in ("overthinking", "progressing"):
        assert values(name, split) == pytest.approx(values(name, whole), abs=1e-9)


@given(SUCCESS, REFERENCES)
def test_bounds_of_what_nobody_counted_contain_the_truth(of, values, one, reference):
    """Each generation says one word for each five visible tokens, and thinks no more than its budget."""
    spoken = dataclasses.replace(one, tokens=tuple((h, CALL + o) for h, o in one.tokens))
    known = of(spoken, reference)
    told = [
        dataclasses.replace(step, text="word " * (o // 5), output_tokens=None, reasoning_tokens=None)
        for step, (_, o) in zip(known.thinks, one.tokens, strict=True)
    ]
    steps = tuple(told[step.step // 2] if isinstance(step, Think) else step for step in known.steps)
    row = dataclasses.replace(
        known.row,
        output_tokens=None,
        reasoning_tokens=None,
        thinking=f"tokens:{max(thinking for thinking, _ in one.tokens)}",
        reasoning_visibility="encrypted",
    )
    found = values("overthinking", dataclasses.replace(known, row=row, steps=steps))
    truth = values("overthinking", known)["token_efficiency"]
    assert "token_efficiency" not in found
    assert found["token_efficiency_low"] <= truth <= found["token_efficiency_high"]


RUNS = st.lists(played(tasks="klm"), min_size=1, max_size=8)


@pytest.fixture(scope="session")
def scored(tmp_path_factory):
    """The scores of a run of these trials, by their places: (scorer, metric), and what they sum up to by agent."""
    scorers = find_scorers(find_project(tmp_path_factory.mktemp("none")), FAMILY)

    def score(trials: Sequence[tuple[int, Played]]) -> tuple[dict, dict]:
        about = RunManifest(run_id="r", created_at=datetime(2026, 1, 1, tzinfo=UTC))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            with RunWriter.create(path, about) as writer:
                for number, one in trials:
                    writer.commit(
                        TrialRow(
                            run_id="r",
                            trial_id=f"t{number}",
                            suite="s",
                            task_id=one.task,
                            epoch=number + 1,
                            agent=one.agent,
                            model="m",
                            stop_reason="submitted",
                            **one.columns(),
                        ),
                        one.steps(),
                    )
                writer.finish()
            assert not score_run(path, scorers).failed
            run = load(path)
            rows = run.scores.to_table(["trial_id", "metric", "value"]).to_pylist()
            cells = run_summary(run, by=None).cells
        by_trial = {(int(row["trial_id"][1:]), row["metric"]): row["value"] for row in rows}
        summed = {
            (cell.agent, name): figure.estimate.value
            for cell in cells
            for name, figure in cell.figures.items()
        }
        return by_trial, summed

    return score


def close(found: dict, expected: dict) -> bool:
    return found == {
        key: None if value is None else pytest.approx(value, abs=1e-9) for key, value in expected.items()
    }


@settings(max_examples=15)
@given(RUNS, st.randoms())
def test_the_order_of_trials_and_tasks_never_matters(scored, trials, dice):
    shuffled = list(enumerate(trials))
    dice.shuffle(shuffled)
    before, after = scored(list(enumerate(trials))), scored(shuffled)
    assert close(after[0], before[0])
    assert close(after[1], before[1])


@settings(max_examples=15)
@given(RUNS)
def test_doubling_every_epoch_leaves_all_values(scored, trials):
    before, after = scored(list(enumerate(trials))), scored(list(enumerate([*trials, *trials])))
    assert close({key: after[0][key] for key in before[0]}, before[0])
    assert close(after[1], before[1])


@settings(max_examples=15)
@given(RUNS, st.lists(played(agents="n", tasks="klm"), min_size=1, max_size=3))
def test_adding_an_agent_never_raises_anybodys_efficiency(scored, trials, further):
    before, _ = scored(list(enumerate(trials)))
    after, _ = scored(list(enumerate([*trials, *further])))
    for key, value in before.items():
        if key[1] in {"token_efficiency", "path_efficiency"} and value is not None:
            assert after[key] <= value + 1e-12


def most_of_1(by_trial, trials, metric):
    """The largest share of an agent's trials of which the metric is 1."""
    by_agent = {agent: [n for n, one in enumerate(trials) if one.agent == agent] for agent in "abc"}
    return max(sum(by_trial[n, metric] == 1 for n in own) / len(own) for own in by_agent.values() if own)


@settings(max_examples=15)
@given(
    st.lists(played(passed=st.just(True), checkpoints=st.just(True), agents="abc"), min_size=1, max_size=8)
)
def test_at_least_half_of_the_successes_of_the_agent_that_sets_it_have_a_path_efficiency_of_1(scored, trials):
    """The reference is its median cost until it would first have passed."""
    by_trial, _ = scored(list(enumerate(trials)))
    assert most_of_1(by_trial, trials, "path_efficiency") >= 0.5


@settings(max_examples=15)
@given(
    st.lists(played(passed=st.just(True), checkpoints=st.just(False), agents="abc"), min_size=1, max_size=8)
)
def test_without_checkpoints_they_have_a_token_efficiency_of_1(scored, trials):
    by_trial, _ = scored(list(enumerate(trials)))
    assert most_of_1(by_trial, trials, "token_efficiency") >= 0.5
