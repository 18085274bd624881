"""A real run of every bundled solution finds nothing, and says so after a look."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.measures.tampering.found import findings_of

SUITES = Path(__file__).parents[2] / "suites"


@pytest.mark.parametrize(("suite", "tasks"), [("core", 8), ("recovery", 8)])
def test_the_solutions_of_a_suite_are_neither_confirmed_nor_suspected(suite, tasks, run_suite):
    run = run_suite(SUITES / suite, faults="none")
    looked = 0
    for row, steps, effects in run.iter_whole():
        assert (row.task_id, row.status) == (row.task_id, "passed")
        assert [(row.task_id, finding) for finding in findings_of(row, steps, effects)] == []
        assert row.effects_measured
        looked += any(step.kind == "event" and step.event == "planted" for step in steps)
    assert looked == tasks
