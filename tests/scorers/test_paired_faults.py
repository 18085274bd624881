"""Rows of the faulted arm add up to what is defined over tasks."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

OUTCOMES = st.lists(st.booleans(), min_size=1, max_size=4)
ARMS = st.dictionaries(st.sampled_from("klmn"), st.tuples(OUTCOMES, OUTCOMES), min_size=1)
PAIRED = "faults+retention+overhead"


def rows_of(row, arms):
    """Of each task its clean trials, then those under the fault."""
    return [
        row(
            task_id=task,
            epoch=epoch,
            variant=variant,
            status="passed" if passed else "failed",
            faults_fired=0 if variant == "clean" else int(epoch % 2 == 0),
        )
        for task, both in arms.items()
        for variant, outcomes in zip(("clean", "flaky"), both, strict=True)
        for epoch, passed in enumerate(outcomes)
    ]


def scored(row, trial, values, arms):
    rows = rows_of(row, arms)
    columns = ("task_id", "epoch", "variant", "status", "faults_fired")
    return [
        (
            own.task_id,
            values(
                "faults+retention+overhead",
                trial(cohort=rows, **{name: getattr(own, name) for name in columns}),
            ),
        )
        for own in rows
        if own.variant != "clean"
    ]


def task_mean(found, metric):
    tasks = defaultdict(list)
    for task, score in found:
        tasks[task].append(score[metric])
    return fmean(map(fmean, tasks.values()))


@given(arms=ARMS)
def test_degradation_and_retention_are_paired_over_tasks(row, trial, values, arms):
    found = scored(row, trial, values, arms)
    clean = [fmean(both[0]) for both in arms.values()]
    faulted = [fmean(both[1]) for both in arms.values()]
    assert task_mean(found, "degradation") == pytest.approx(fmean(clean) - fmean(faulted), abs=1e-9)
    assert task_mean(found, "retained") == pytest.approx(fmean(faulted))
    assert task_mean(found, "clean_rate") == pytest.approx(fmean(clean))


@given(arms=ARMS)
def test_duplicating_every_epoch_changes_no_pairing(row, trial, values, arms):
    doubled = {task: (clean * 2, faulted * 2) for task, (clean, faulted) in arms.items()}
    once, twice = (scored(row, trial, values, some) for some in (arms, doubled))
    for metric in ("degradation", "retained", "clean_rate"):
        one, two = task_mean(once, metric), task_mean(twice, metric)
        assert one == pytest.approx(two, abs=1e-9)
