"""What does the record say of a state that an agent's work passed through?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from evalkit.grading.verdict import Verdict
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Event, Step


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """One state: after which call, what it would have delivered, and what a grader says of that."""

    of_step: int
    deliverables: str | None = None
    """sha256 of the artifact that lists it; None where it could not be copied."""
    reward: float | None = None
    passed: bool | None = None
    """None where no grader has been asked, or none has an answer."""
    checks: Mapping[str, bool] | None = None
    error: str | None = None
    """Why it could not be copied, or not be graded."""

    def detail(self) -> str:
        """The `detail` of its event."""
        told = asdict(self)
        if self.error is None:
            del told["error"]
        return canonical_json(told)

    def judged(self, word: Verdict | str | None) -> CheckpointState:
        """The same with a grader's verdict, or why there is none; None: nobody has been asked."""
        bare = CheckpointState(self.of_step, self.deliverables)
        if word is None:
            return bare
        if isinstance(word, str):
            return replace(bare, error=word)
        checks = None if word.checks is None else dict(word.checks)
        return replace(bare, reward=word.reward, passed=word.passed, checks=checks)


def state_in(step: Step) -> CheckpointState | None:
    """The state that a step of a record tells of; None for any other step, the ends of stages among them."""
    if not isinstance(step, Event) or step.event != "checkpoint":
        return None
    try:
        told: object = json.loads(step.detail or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    fields = cast("dict[str, Any]", told)
    of_step, listed, checks = fields.get("of_step"), fields.get("deliverables"), fields.get("checks")
    if type(of_step) is not int:
        return None
    return CheckpointState(
        of_step,
        listed if isinstance(listed, str) else None,
        reward=fields.get("reward"),
        passed=fields.get("passed"),
        checks=cast("dict[str, bool]", checks) if isinstance(checks, dict) else None,
        error=fields.get("error"),
    )
