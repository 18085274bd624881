"""What does a trial's row say that was known before it began?"""

from __future__ import annotations

from typing import TypedDict

from evalkit.engine.plan import Planned
from evalkit.trajectory.trial import Depth


class PlannedColumns(TypedDict):
    """Which task was tried, by whom, for the how-manieth time, and how it is graded; as the record's columns."""

    run_id: str
    trial_id: str
    suite: str
    suite_digest: str
    task_id: str
    task_digest: str
    variant: str
    epoch: int
    attempt: int
    agent: str
    agent_digest: str
    skills: tuple[str, ...]
    difficulty: str | None
    agent_loop: str
    depth: Depth
    model: str
    thinking: str
    thinking_taken: str | None
    tool_settings: str
    approvals: str | None
    temperature: float | None
    seed: int | None
    grader_mode: str


def planned_columns(planned: Planned, run_id: str) -> PlannedColumns:
    """The columns of a planned trial of this run, whatever becomes of it."""
    agent, task = planned.agent, planned.task
    return PlannedColumns(
        run_id=run_id,
        trial_id=planned.trial_id(run_id),
        suite=planned.suite.name,
        suite_digest=planned.suite.digest,
        task_id=task.id,
        task_digest=task.digest,
        variant=planned.variant,
        epoch=planned.epoch,
        attempt=planned.attempt,
        agent=agent.id,
        agent_digest=agent.digest,
        skills=tuple(task.settings.skills),
        difficulty=task.settings.difficulty,
        agent_loop=agent.loop,
        depth=planned.depth,
        model=str(agent.model),
        thinking=agent.thinking.asked,
        thinking_taken=agent.thinking.taken,
        tool_settings=agent.tool_settings.id,
        approvals=agent.approvals.id if agent.approvals else None,
        temperature=agent.sampling.temperature,
        seed=agent.sampling.seed,
        grader_mode=task.grading_mode,
    )
