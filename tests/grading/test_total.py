"""What several stages' verdicts come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.grading.total import falls_short, total
from evalkit.grading.verdict import Verdict
from evalkit.tasks.task import Task, load_task

rewards = st.floats(-1e6, 1e6)


@pytest.fixture
def task_of(tmp_path: Path):
    """A task with three steps."""

    def make(top: str = "", step: str = "") -> Task:
        folder = tmp_path / "task"
        (folder / "tests").mkdir(parents=True, exist_ok=True)
        (folder / "tests/test.sh").write_text("true\n")
        text = f'{top}\n[environment]\nnetwork_mode = "no-network"\n'
        for name in "abc":
            (folder / "steps" / name).mkdir(parents=True, exist_ok=True)
            (folder / "steps" / name / "instruction.md").write_text("Go.\n")
            text += f'[[steps]]\nname = "{name}"\n{step}\n'
        (folder / "task.toml").write_text(text)
        return load_task(folder)

    return make


def verdict(reward: float, **further: float) -> Verdict:
    return Verdict(reward=reward, rewards={"reward": reward, **further}, checks=None, passed=reward >= 1)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(rewards, min_size=3, max_size=3))
def test_the_mean_lies_between_the_least_and_the_greatest(task_of, values):
    found = total(task_of(), [verdict(value) for value in values], fell_short=False)
    assert min(values) <= found.reward <= max(values)
    assert list(found.rewards.values()) == values


def test_three_perfect_steps_are_perfect(task_of):
    assert total(task_of(), [verdict(1.0)] * 3, fell_short=False).passed


def test_what_was_not_reached_counts_as_nothing_unless_a_reward_fell_short(task_of):
    one = [verdict(0.9)]
    assert total(task_of(), one, fell_short=False).reward == pytest.approx(0.3)
    assert total(task_of(), one, fell_short=True).reward == 0.9


def test_of_the_final_step_there_is_no_reward_before_it_was_reached(task_of):
    task = task_of('multi_step_reward_strategy = "final"')
    assert total(task, [verdict(1.0), verdict(1.0)], fell_short=False).reward == 0.0
    assert total(task, [verdict(0.0), verdict(0.0), verdict(1.0)], fell_short=False).passed


@pytest.mark.parametrize(
    ("least", "found", "short"),
    [
        ("min_reward = 0.5", verdict(0.5), False),
        ("min_reward = 0.5", verdict(0.49), True),
        ("min_reward = { style = 0.5 }", verdict(1.0, style=0.4), True),
        ("min_reward = { style = 0.5 }", verdict(0.0, style=0.5), False),
        ("min_reward = { style = 0.5 }", verdict(1.0), True),
        ("", verdict(-5.0), False),
    ],
)
def test_a_reward_that_is_missing_or_too_small_falls_short(task_of, least, found, short):
    assert falls_short(task_of(step=least).stages[0], found) is short


@pytest.mark.parametrize("value", [0.7, 1.7e308])
def test_steps_of_equal_rewards_have_that_very_mean(task_of, value):
    assert total(task_of(), [verdict(value)] * 3, fell_short=False).reward == value
