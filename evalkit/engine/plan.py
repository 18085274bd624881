"""Which trials does a run consist of?"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.engine.agent import Agent
from evalkit.engine.limits import AgentLimits
from evalkit.errors import UsageError
from evalkit.grading.unsupported import refuse_unsupported, refuse_without_docker
from evalkit.sandbox import SandboxKind
from evalkit.tasks.suite import Suite
from evalkit.tasks.task import Task
from evalkit.trajectory.canonical import canonical_json

DEFAULT_STEP_LIMIT = 50


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One row of the plan: (suite, task, variant, epoch, agent), and the attempt at it."""

    suite: Suite
    task: Task
    agent: Agent
    epoch: int
    limits: AgentLimits
    variant: str = "clean"
    attempt: int = 1

    def trial_id(self, run_id: str) -> str:
        """Readable, such as `fix-off-by-one.oracle.1.3fa2c19d`, and unique among all trials of the run."""
        row = [run_id, self.suite.name, self.task.id, self.variant, self.agent.id, self.epoch, self.attempt]
        digest = hashlib.sha256(canonical_json(row).encode()).hexdigest()
        agent = self.agent.id.rpartition("/")[2]
        return f"{self.task.id}.{agent}.{self.epoch}.{digest[:8]}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked of a plan; None means: as the suite says."""

    task: str | None = None
    """Glob over task ids; one that begins with `!` leaves out what it matches."""
    limit: int | None = None
    """At most so many tasks of each suite."""
    epochs: int | None = None
    step_limit: int | None = None
    token_limit: int | None = None
    time_limit_s: float | None = None
    sandbox: SandboxKind = "local"


def make_plan(suites: Sequence[Suite], agents: Sequence[Agent], asked: Asked) -> tuple[PlannedTrial, ...]:
    """Every task of every suite x agent x epoch, in that order, epochs innermost.

    Raises UsageError where nothing matches, or a task asks for what cannot be honoured.
    """
    trials: list[PlannedTrial] = []
    for suite in suites:
        for task in _chosen(suite, asked):
            refuse_unsupported(task)
            if asked.sandbox == "local":
                refuse_without_docker(task)
            limits = _limits(suite, task, asked)
            epochs = asked.epochs or suite.run.epochs or 1
            trials += [
                PlannedTrial(suite=suite, task=task, agent=agent, epoch=epoch, limits=limits)
                for agent in agents
                for epoch in range(1, epochs + 1)
            ]
    if not trials:
        names = ", ".join(sorted({task.id for suite in suites for task in suite.tasks}))
        raise UsageError(
            f"no task matches '{asked.task}'",
            hint=f"Tasks: {names}. A pattern that begins with ! leaves out what it matches.",
        )
    return tuple(trials)


def _chosen(suite: Suite, asked: Asked) -> tuple[Task, ...]:
    pattern = asked.task or "*"
    wanted = not pattern.startswith("!")
    glob = pattern.removeprefix("!")
    matching = [task for task in suite.tasks if fnmatch.fnmatchcase(task.id, glob) is wanted]
    return tuple(matching[: asked.limit])


def _limits(suite: Suite, task: Task, asked: Asked) -> AgentLimits:
    """A flag beats the task, the task beats its suite."""
    return AgentLimits(
        steps=asked.step_limit or suite.run.step_limit or DEFAULT_STEP_LIMIT,
        tokens=asked.token_limit or suite.run.token_limit,
        time_s=asked.time_limit_s or _own_time(task) or suite.run.time_limit_s,
    )


def _own_time(task: Task) -> float | None:
    """Of a task with steps, its own limits are those of each step, and hold beside the trial's."""
    return None if task.is_staged else task.agent_timeout_s
