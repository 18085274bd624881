"""What is a stored state of an agent's work worth, by the grader's word?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalkit.engine.checkpoint_state import CheckpointState, state_in
from evalkit.errors import EvalkitError
from evalkit.grading.delivered import read_delivered
from evalkit.grading.grader import Grading, grade_delivered
from evalkit.grading.verdict import Verdict
from evalkit.tasks.task import Task
from evalkit.trajectory.step import Event, Step


async def graded(task: Task, listed: str, grading: Grading) -> Verdict | str:
    """The verdict on the state with this list of deliverables, or why there is none. It costs nobody a verdict."""
    try:
        (delivered,) = read_delivered(listed, grading.store)
        return await grade_delivered(task, task.stages[0], delivered.deliverables, grading, answer=None)
    except (EvalkitError, OSError) as error:
        return str(error)


def states_of(steps: Sequence[Step]) -> tuple[CheckpointState, ...]:
    """Those of a trial that are stored, in the order of the record."""
    found = (state_in(step) for step in steps)
    return tuple(state for state in found if state is not None and state.deliverables is not None)


async def grade_stored(task: Task, steps: Sequence[Step], grading: Grading) -> dict[str, Verdict | str]:
    """What graders say now of each state of a trial that has no verdict, by its list of deliverables."""
    words: dict[str, Verdict | str] = {}
    for state in states_of(steps):
        if state.passed is None and state.deliverables is not None and state.deliverables not in words:
            words[state.deliverables] = await graded(task, state.deliverables, grading)
    return words


def with_words(steps: Sequence[Step], words: Mapping[str, Verdict | str]) -> tuple[Step, ...]:
    """The same steps, with these words in the events of the states that they are about."""
    return tuple(_told(step, words) for step in steps)


def without_verdicts(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps without what graders said of states: they are others now."""
    return tuple(_told(step, {}, forget=True) for step in steps)


def _told(step: Step, words: Mapping[str, Verdict | str], *, forget: bool = False) -> Step:
    state = state_in(step)
    if state is None or state.deliverables is None or not isinstance(step, Event):
        return step
    if not forget and state.deliverables not in words:
        return step
    return replace(step, detail=state.judged(words.get(state.deliverables)).detail())
