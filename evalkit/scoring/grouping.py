"""Which groups does a trial belong to?"""

from __future__ import annotations

from typing import Literal, get_args

from evalkit.scoring.scored_trials import LightTrial

By = Literal["skill", "difficulty", "suite", "task", "variant"]
GROUPINGS: tuple[By, ...] = get_args(By)
NO_GROUP = "(none)"
"""Where a task declares no skill, or no difficulty."""


def groups_of(trial: LightTrial, by: By) -> tuple[str, ...]:
    """The names of its groups: one, but for tasks with several skills, whose trials count in each."""
    match by:
        case "skill":
            return tuple(dict.fromkeys(trial.skills)) or (NO_GROUP,)
        case "difficulty":
            return (trial.difficulty or NO_GROUP,)
        case "suite":
            return (trial.suite,)
        case "task":
            return (f"{trial.suite}/{trial.task_id}",)
        case "variant":
            return (trial.variant,)
