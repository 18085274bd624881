"""What is left to do of a run that was cut short, and how is it gone on with?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from evalkit.engine.agent import Agent
from evalkit.engine.limits import AgentLimits
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.tool_settings import ToolSettings
from evalkit.errors import NotComparable, Origin
from evalkit.models.name import parse_model
from evalkit.models.sampling import Sampling
from evalkit.models.thinking import Thinking
from evalkit.tasks.suite import Suite, load_suite
from evalkit.tasks.task import Task
from evalkit.trajectory.manifest import AgentEntry, PlannedRow, RunManifest
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

INFRASTRUCTURE: frozenset[Origin] = frozenset({"model", "sandbox", "harness"})
"""Whose faults are worth another attempt. A task or a grader fails again, and an agent may have made it fail."""


def can_be_tried_again(trial: Trial) -> bool:
    """Whether an unscored trial is the fault of what it ran on."""
    return trial.status == "unscored" and trial.error_origin in INFRASTRUCTURE


def remaining(run: Run) -> tuple[PlannedTrial, ...]:
    """The planned rows that are missing, as a first attempt, or unscored by infrastructure, as a further one.

    Raises NotComparable where a suite or an agent is no longer what the run began with.
    """
    manifest = run.manifest
    suites = {entry.name: _suite(entry.name, entry.source, entry.digest) for entry in manifest.suites}
    tasks = {(name, task.id): task for name, suite in suites.items() for task in suite.tasks}
    agents = {entry.id: _agent(entry) for entry in manifest.agents}
    done = {_row(trial): trial for trial in run.rows()}
    left: list[PlannedTrial] = []
    for row in manifest.planned:
        trial = done.get((row.suite, row.task_id, row.variant, row.epoch, row.agent))
        if trial is not None and not can_be_tried_again(trial):
            continue
        attempt = 1 if trial is None else trial.attempt + 1
        left.append(
            PlannedTrial(
                suite=suites[row.suite],
                task=tasks[row.suite, row.task_id],
                agent=agents[row.agent],
                epoch=row.epoch,
                limits=_limits(manifest, row),
                variant=row.variant,
                attempt=attempt,
            )
        )
    return tuple(left)


def tasks_of(plan: Iterable[PlannedTrial]) -> tuple[Task, ...]:
    """Each task of a plan once."""
    return tuple({trial.task.path: trial.task for trial in plan}.values())


def _row(trial: Trial) -> tuple[str, str, str, int, str]:
    return (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.agent)


def _suite(name: str, source: str | None, digest: str | None) -> Suite:
    if source is None:
        raise NotComparable(
            f"the run does not say where its suite '{name}' is", hint="Imported runs cannot be resumed."
        )
    suite = load_suite(Path(source))
    if suite.digest != digest:
        raise NotComparable(
            f"the suite '{name}' has changed since the run began: {suite.digest[:12]} is not {(digest or '?')[:12]}",
            where=source,
            hint="Restore the suite as it was, or start a new run.",
        )
    return suite


def _agent(entry: AgentEntry) -> Agent:
    settings = entry.settings
    agent = Agent(
        model=parse_model(str(settings["model"])),
        loop=str(settings["loop"]),
        thinking=Thinking(str(settings["thinking"])),
        tool_settings=ToolSettings.model_validate(settings["tool_settings"]),
        sampling=_sampling(settings),
        base_url=None if settings.get("base_url") is None else str(settings["base_url"]),
    )
    if agent.digest != entry.digest:
        raise NotComparable(
            f"the agent {entry.id} is no longer what it was when the run began",
            hint="Resume with the version of evalkit that began the run, or start a new run.",
        )
    return agent


def _sampling(settings: Mapping[str, object]) -> Sampling:
    temperature, seed, most = (settings.get(name) for name in ("temperature", "seed", "max_tokens"))
    return Sampling(
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        seed=seed if isinstance(seed, int) else None,
        max_tokens=most if isinstance(most, int) else None,
    )


def _limits(manifest: RunManifest, row: PlannedRow) -> AgentLimits:
    stored = cast("Mapping[str, float | None]", manifest.limits.get(f"{row.suite}/{row.task_id}", {}))
    steps, tokens = stored.get("steps"), stored.get("tokens")
    return AgentLimits(
        steps=None if steps is None else int(steps),
        tokens=None if tokens is None else int(tokens),
        time_s=stored.get("time_s"),
    )
