"""A sealed grader is asked once about equal deliverables, and again where it gave no verdict."""

from __future__ import annotations

import anyio
import pytest

from evalkit.errors import GraderError
from evalkit.grading.known_verdicts import KnownVerdicts
from evalkit.grading.verdict import Verdict
from evalkit.sandbox.protocol import Deliverable

OUT = Deliverable("/app/out", "file", 0o644, size=1, digest="a" * 64)
OTHER = Deliverable("/app/out", "file", 0o644, size=1, digest="b" * 64)
PASSED = Verdict(reward=1.0, rewards={"reward": 1.0}, checks=None, passed=True)


class Grader:
    """Counts how often it is asked."""

    def __init__(self, *fails: bool) -> None:
        self.asked = 0
        self._fails = list(fails)

    async def grade(self) -> Verdict:
        self.asked += 1
        await anyio.sleep(0)
        if self._fails and self._fails.pop(0):
            raise GraderError("it crashed")
        return PASSED


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ((None, (OUT,), None), (None, (OUT,), None), 1),
        ((None, (OUT,), None), (None, (OTHER,), None), 2),
        ((None, (OUT,), "yes"), (None, (OUT,), "no"), 2),
        (("one", (OUT,), None), ("two", (OUT,), None), 2),
    ],
    ids=["equal", "another file", "another answer", "another stage"],
)
def test_equal_deliverables_are_graded_once_also_at_the_same_time(first, second, asked):
    grader, known = Grader(), KnownVerdicts()

    async def both():
        async with anyio.create_task_group() as group:
            for one in (first, second):
                group.start_soon(known.ask, one, grader.grade)

    anyio.run(both)
    assert grader.asked == asked


def test_a_grader_without_a_verdict_is_asked_again():
    grader, known = Grader(True), KnownVerdicts()

    async def twice():
        with pytest.raises(GraderError):
            await known.ask((None, (OUT,), None), grader.grade)
        return await known.ask((None, (OUT,), None), grader.grade)

    assert anyio.run(twice) == PASSED
    assert grader.asked == 2
