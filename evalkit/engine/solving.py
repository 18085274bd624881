"""What did Inspect hand over to the trial that is being solved in this context?"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from inspect_ai.solver import Generate, TaskState

from evalkit.engine.inspect_sandbox import InspectSandbox


@dataclass(slots=True)
class Solving:
    """What any solver of Inspect's needs, which our own loop does without."""

    state: TaskState
    generate: Generate
    box: InspectSandbox | None
    """The sample's sandbox, behind Inspect's interface; None where it has none."""


current_solving: ContextVar[Solving] = ContextVar("evalkit_solving")
