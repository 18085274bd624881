"""Do the steps of a trajectory fit together?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.trial import Trial


def check_trajectory(trial: Trial, steps: Sequence[Step], effects: Sequence[Effect]) -> None:
    """Raise ValueError unless steps are numbered 0, 1, 2, ... and refer only to what is there."""
    _check_steps(steps)
    for effect in effects:
        if effect.trial_id != trial.trial_id:
            raise ValueError(f"an effect of {effect.trial_id!r} among those of {trial.trial_id!r}")
        for number in (*effect.evidence, *(() if effect.step is None else (effect.step,))):
            if not 0 <= number < len(steps):
                raise ValueError(f"an effect refers to step {number}, but there are {len(steps)}")


def consistent_prefix(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps up to the first that does not fit those before it."""
    good: list[Step] = []
    thinks: set[int] = set()
    calls: set[tuple[int, int]] = set()
    for place, step in enumerate(steps):
        if _complaint(step, place, thinks, calls) is not None:
            break
        good.append(step)
    return tuple(good)


def _check_steps(steps: Sequence[Step]) -> None:
    thinks: set[int] = set()
    calls: set[tuple[int, int]] = set()
    for place, step in enumerate(steps):
        complaint = _complaint(step, place, thinks, calls)
        if complaint is not None:
            raise ValueError(complaint)


def _complaint(step: Step, place: int, thinks: set[int], calls: set[tuple[int, int]]) -> str | None:
    """What is wrong with a step, given the generations and calls before it; adds its own to them."""
    if step.step != place:
        return f"step number {step.step} stands in place {place}"
    if step.parent_step is not None and step.parent_step >= place:
        return f"step {place} has parent step {step.parent_step}, which is not before it"
    if isinstance(step, Think):
        thinks.add(place)
    if isinstance(step, Act) and step.think_step is not None:
        if step.think_step not in thinks:
            return f"step {place} says think_step {step.think_step}, which is no think step before it"
        call = (step.think_step, -1 if step.call_index is None else step.call_index)
        if step.call_index is not None and call in calls:
            return f"step {place} is a second call {step.call_index} of think step {step.think_step}"
        calls.add(call)
    return None
