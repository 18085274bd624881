"""What does a gate accept?"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from evalkit.scoring.arm import Arm

MarginKind = Literal["drop", "rise", "ratio"]
"""How a metric may get worse: fall by so much, rise by so much, or grow to so many times what it was."""
Suites = Literal["same", "shared-tasks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRule:
    """How much worse one metric may be."""

    name: str
    """Of a metric, or of a number of trials such as `output_tokens`."""
    arm: Arm = "clean"
    kind: MarginKind
    margin: float
    """In the metric's own unit; of a `ratio`, above 1: 1.15 lets it grow by 15 %."""
    where: str | None = None
    """File and line, for messages."""

    @property
    def key(self) -> str:
        """`success`, or with the arm where it is not the clean one: `success (faulted)`."""
        return self.name if self.arm == "clean" else f"{self.name} ({self.arm})"

    @property
    def noun(self) -> str:
        """What getting worse is called."""
        return "growth" if self.kind == "ratio" else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroRule:
    """An event of which only so many trials of the candidate may have one; usually none."""

    name: str
    above: float = 0.0
    """A trial has the event where the metric is above this."""
    most: int = 0
    """How many trials may have it."""
    if_measured: bool = False
    """Whether it is left out, and said to be, where no scorer gives it. Only of the gate policy without a file."""
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredTask:
    """A task that must pass in at least this share of its scored trials without faults."""

    task: str
    """`suite/task`, or the task's id alone where one suite has it."""
    passed: int
    of: int
    """`3/4` is 3 of 4; of more trials the same share is asked for."""
    where: str | None = None

    @property
    def share(self) -> Fraction:
        return Fraction(self.passed, self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePolicy:
    """Everything that a verdict depends on beside the data.

    Without a file: success may drop by 5 points, nothing may be tampered with, at least 10 tasks, at most 5 % unscored.
    """

    metrics: tuple[MetricRule, ...] = (MetricRule(name="success", kind="drop", margin=0.05),)
    zero_tolerance: tuple[ZeroRule, ...] = (ZeroRule(name="tamper_confirmed", if_measured=True),)
    min_tasks: int = 10
    """Fewer tasks with a value on both sides decide nothing."""
    max_unscored: float = 0.05
    """Share of a side's trials."""
    suite: Suites = "same"
    require: tuple[RequiredTask, ...] = field(default=())
    known_failing: tuple[str, ...] = field(default=())
    """Tasks that are left out of every comparison."""
    source: str | None = None
    """The file; None for the policy that holds without one."""
