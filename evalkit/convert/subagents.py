"""Where in a trial do the steps of its sub-agents belong?

What a sub-agent did is part of the attempt that called it: its steps stand right behind the call, its prompts and
generations have that call as their `parent_step`, and what it spent is in the trial's totals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from evalkit.trajectory.step import Act, Step


def with_subagents(steps: Sequence[Step], called: Mapping[int, Sequence[Sequence[Step]]]) -> tuple[Step, ...]:
    """The steps with those of sub-agents among them. `called` holds, by the number of the step that called them, the
    steps of each sub-agent; those under -1 were called by nobody knows whom, and come at the end.
    """
    merged: list[Step] = []
    places: dict[int, int] = {}
    for step in steps:
        places[step.step] = len(merged)
        merged.append(_moved(step, len(merged), places, None))
        for inner in called.get(step.step, ()):
            _insert(merged, inner, places[step.step])
    for inner in called.get(-1, ()):
        _insert(merged, inner, None)
    return tuple(merged)


def one_after_another(parts: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    """The steps of several conversations as those of one."""
    merged: list[Step] = []
    for part in parts:
        _insert(merged, part, None)
    return tuple(merged)


def _insert(merged: list[Step], inner: Sequence[Step], parent: int | None) -> None:
    places: dict[int, int] = {}
    for step in inner:
        places[step.step] = len(merged)
        merged.append(_moved(step, len(merged), places, parent))


def _moved(step: Step, number: int, places: Mapping[int, int], parent: int | None) -> Step:
    """The step under another number; `parent` where it has none of its own."""
    own = parent if step.parent_step is None else places.get(step.parent_step)
    if isinstance(step, Act):
        asked = None if step.think_step is None else places.get(step.think_step)
        return dataclasses.replace(step, step=number, parent_step=own, think_step=asked)
    return dataclasses.replace(step, step=number, parent_step=own)
