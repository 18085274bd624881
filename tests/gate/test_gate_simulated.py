"""How often the gate is wrong, where the truth is known.

The table of false alarms and detections that the gate's rules were chosen by, and the share of false passes where the
true drop is as large as the margin.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalkit.gate.power import Design, simulated, verdict_on
from evalkit.stats.permutation import sign_flip_p

pytestmark = pytest.mark.slow
RUNS = 1_500
DESIGNS = [(20, 1), (20, 4), (50, 1), (50, 4), (100, 1), (100, 4)]
UNCHANGED = [0.02, 0.03, 0.03, 0.04, 0.03, 0.04]
"""Of builds in which nothing changed, how many a sign-flip test on task means stops; 3,000 simulated each."""
DROPPED = [0.09, 0.38, 0.26, 0.79, 0.49, 0.97]
"""The same where success has dropped by 10 points."""


def design(tasks, epochs, margin=0.05):
    return Design(tasks=tasks, epochs=epochs, baseline_epochs=epochs, margin=margin)


def error(share):
    """Three standard errors of a share of so many simulated runs."""
    return 3 * math.sqrt(max(share * (1 - share), 0.002) / RUNS)


def stopped(tasks, epochs, drop):
    """The share of builds whose drop is significant, whatever the margin."""
    runs = simulated(design(tasks, epochs), drop, runs=RUNS, seed=tasks + epochs)
    found = [sign_flip_p(own, side="less") <= 0.05 and own.mean() < 0 for own in runs]
    return float(np.mean(found))


@pytest.mark.parametrize(("own", "expected"), list(zip(DESIGNS, UNCHANGED, strict=True)), ids=str)
def test_builds_in_which_nothing_changed_are_stopped_as_rarely_as_designed(own, expected):
    found = stopped(*own, drop=0.0)
    assert found == pytest.approx(expected, abs=0.005 + error(expected))
    assert found <= 0.05 + error(0.05)


@pytest.mark.parametrize(("own", "expected"), list(zip(DESIGNS, DROPPED, strict=True)), ids=str)
def test_a_drop_of_10_points_is_found_as_often_as_designed(own, expected):
    """The figures are rounded; how a drop is spread over tasks is ours, each task's rate falls by the same factor."""
    assert stopped(*own, drop=0.1) == pytest.approx(expected, abs=0.03 + error(expected))


@pytest.mark.parametrize("margin", [0.05, 0.1])
@pytest.mark.parametrize("own", DESIGNS, ids=str)
def test_a_drop_as_large_as_the_margin_passes_in_at_most_5_of_100(own, margin):
    runs = simulated(design(*own, margin=margin), margin, runs=RUNS, seed=sum(own))
    passed = np.mean([verdict_on(differences, margin) == "pass" for differences in runs])
    assert passed <= 0.05 + error(0.05)


@pytest.mark.parametrize("margin", [0.05, 0.1])
@pytest.mark.parametrize("tasks", [40, 80, 160])
def test_a_few_tasks_that_break_outright_while_all_others_agree_pass_no_more_often(tasks, margin):
    """Where t intervals have no width: of further tasks a share as large as the margin is broken."""
    random = np.random.default_rng(tasks)
    runs = [-(random.random(tasks) < margin).astype(float) for _ in range(RUNS)]
    passed = np.mean([verdict_on(differences, margin) == "pass" for differences in runs])
    assert passed <= 0.05 + error(0.05)
    assert passed > 0 or tasks * margin < 3


@pytest.mark.parametrize(("tasks", "margin"), [(222, 0.05), (68, 0.1)])
def test_so_many_tasks_let_an_unchanged_agent_pass_four_times_of_five(tasks, margin):
    runs = simulated(design(tasks, 4, margin=margin), 0.0, runs=RUNS, seed=tasks)
    passed = np.mean([verdict_on(differences, margin) == "pass" for differences in runs])
    assert passed == pytest.approx(0.8, abs=0.03 + error(0.8))
