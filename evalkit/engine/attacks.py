"""Which attacks does a scripted cheater play on a task, and are there those that were asked for?"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from evalkit.engine.plan import Planned, PlannedTrial
from evalkit.errors import TaskError, UsageError
from evalkit.grading.exploit import attack, corpus, exploits_of
from evalkit.models.scripted import find_persona
from evalkit.tasks.solution import Piece
from evalkit.tasks.task import Task


def attacks(task: Task, name: str) -> tuple[Piece, ...]:
    """The pieces of the attack with this name; without one, of the task's own attacks, else of the whole corpus.

    Raises TaskError where the task has no attack of this name.
    """
    known = exploits_of(task)
    played = (
        [one for one in known if one.name == name] if name else [one for one in known if one.own] or known
    )
    if not played:
        raise TaskError(
            f"there is no attack called '{name}'",
            where=str(task.path / "exploits"),
            hint="The task has no such script, and neither has the corpus.",
        )
    return tuple(piece for exploit in played for piece in attack(exploit, task))


def check_attacks(plan: Sequence[Planned]) -> None:
    """Raise UsageError for a cheater whose attack no task of the plan has, with the nearest one.

    An attack that some tasks have and others have not is none of theirs to miss: those trials say so.
    """
    asked: dict[str, set[str]] = {}
    for planned in plan:
        if planned.agent.model.route != "scripted" or not isinstance(planned, PlannedTrial):
            continue
        if name := find_persona(planned.agent.model.name).attack:
            asked.setdefault(name, {one.name for one in corpus()})
            asked[name] |= {one.name for one in exploits_of(planned.task)}
    for name, known in asked.items():
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
            guess = f"Did you mean scripted/cheater:{near[0]}? " if near else ""
            raise UsageError(
                f"there is no attack called '{name}'", hint=f"{guess}There are: {', '.join(sorted(known))}."
            )
