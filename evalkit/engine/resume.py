"""What is left to do of a run that was cut short, and how is it gone on with?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from evalkit.engine.agent import Agent
from evalkit.engine.approvals.policy import Approvals
from evalkit.engine.faults.entry import planned_faults
from evalkit.engine.inspect_suite import PREFIX, InspectSuite
from evalkit.engine.limits import AgentLimits
from evalkit.engine.own_code import OwnCode
from evalkit.engine.plan import TWIN, AnySuite, Planned, PlannedSample, PlannedTrial
from evalkit.engine.tool_settings import ToolSettings
from evalkit.errors import NotComparable, Origin
from evalkit.models.name import parse_model
from evalkit.models.sampling import Sampling
from evalkit.models.thinking import Thinking
from evalkit.sandbox import SandboxKind
from evalkit.tasks.suite import load_suite
from evalkit.tasks.task import Task
from evalkit.tasks.twin import twin_of
from evalkit.trajectory.manifest import AgentEntry, Json, PlannedRow, RunManifest, SuiteEntry
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

INFRASTRUCTURE: frozenset[Origin] = frozenset({"model", "sandbox", "harness"})
"""Whose faults are worth another attempt. A task or a grader fails again, and an agent may have made it fail."""


def can_be_tried_again(trial: Trial) -> bool:
    """Whether an unscored trial is the fault of what it ran on."""
    return trial.status == "unscored" and trial.error_origin in INFRASTRUCTURE


def remaining(run: Run) -> tuple[Planned, ...]:
    """The planned rows that are missing, as a first attempt, or unscored by infrastructure, as a further one.

    Raises NotComparable where a suite or an agent is no longer what the run began with.
    """
    manifest = run.manifest
    suites = {entry.name: _suite(entry, manifest) for entry in manifest.suites}
    agents = {entry.id: _agent(entry) for entry in manifest.agents}
    faults = planned_faults(manifest)
    done = {_row(trial): trial for trial in run.rows()}
    left: list[Planned] = []
    for row in manifest.planned:
        trial = done.get((row.suite, row.task_id, row.variant, row.epoch, row.agent))
        if trial is not None and not can_be_tried_again(trial):
            continue
        attempt = 1 if trial is None else trial.attempt + 1
        fault = faults.get((row.suite, row.task_id, row.variant))
        if fault is None and row.variant not in {"clean", TWIN}:
            raise NotComparable(
                f"the run does not say what its fault {row.variant!r} of {row.suite}/{row.task_id} does",
                where="run.json",
                hint="Its `faults` were changed; start a new run.",
            )
        planned = _planned(suites[row.suite], row, agents[row.agent], _limits(manifest, row), attempt)
        left.append(replace(planned, fault=fault))
    return tuple(left)


def _planned(suite: AnySuite, row: PlannedRow, agent: Agent, limits: AgentLimits, attempt: int) -> Planned:
    if isinstance(suite, InspectSuite):
        sample = next(task for task in suite.tasks if task.id == row.task_id)
        return PlannedSample(suite, sample, agent, row.epoch, limits, row.variant, attempt)
    task = suite.task(row.task_id)
    if row.variant == TWIN:
        task = _twin(task, row)
    return PlannedTrial(suite, task, agent, row.epoch, limits, row.variant, attempt)


def _twin(task: Task, row: PlannedRow) -> Task:
    twin = twin_of(task)
    if twin is None:
        raise NotComparable(
            f"{row.suite}/{row.task_id} has no impossible twin, and the run has one",
            where="run.json",
            hint="Its `planned` was changed; start a new run.",
        )
    return twin


def _row(trial: Trial) -> tuple[str, str, str, int, str]:
    return (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.agent)


def _suite(entry: SuiteEntry, manifest: RunManifest) -> AnySuite:
    name, source, digest = entry.name, entry.source, entry.digest
    if source is None:
        raise NotComparable(
            f"the run does not say where its suite '{name}' is", hint="Imported runs cannot be resumed."
        )
    suite = _load(source, manifest)
    if suite.digest != digest:
        raise NotComparable(
            f"the suite '{name}' has changed since the run began: {suite.digest[:12]} is not {(digest or '?')[:12]}",
            where=source,
            hint="Restore the suite as it was, or start a new run.",
        )
    return suite


def _load(source: str, manifest: RunManifest) -> AnySuite:
    if not source.startswith(PREFIX):
        return load_suite(Path(source))
    from evalkit.engine.inspect_loading import load_inspect_suite

    arguments = cast("Mapping[str, Json]", manifest.settings.get("task_arguments", {}))
    insisted = cast("SandboxKind | None", manifest.settings.get("sandbox_asked"))
    return load_inspect_suite(source, arguments, insisted)


def _agent(entry: AgentEntry) -> Agent:
    settings = entry.settings
    agent = Agent(
        model=parse_model(str(settings["model"])),
        loop=str(settings["loop"]),
        thinking=Thinking(str(settings["thinking"]), _text(settings.get("thinking_taken"))),
        tool_settings=ToolSettings.model_validate(settings["tool_settings"]),
        sampling=_sampling(settings),
        base_url=_text(settings.get("base_url")),
        own=_own_code(entry),
        approvals=_approvals(settings),
    )
    if agent.digest != entry.digest:
        raise NotComparable(
            f"the agent {entry.id} is no longer what it was when the run began",
            hint="Resume with the version of evalkit, and of your own loop and tools, that began the run, or start a "
            "new run.",
        )
    return agent


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _sampling(settings: Mapping[str, object]) -> Sampling:
    temperature, seed, most = (settings.get(name) for name in ("temperature", "seed", "max_tokens"))
    return Sampling(
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        seed=seed if isinstance(seed, int) else None,
        max_tokens=most if isinstance(most, int) else None,
    )


def _approvals(settings: Mapping[str, object]) -> Approvals | None:
    """As the run began with them, whatever their file says now."""
    stored = settings.get("approvals")
    try:
        return None if stored is None else Approvals.model_validate(stored)
    except ValidationError as error:
        raise NotComparable(
            f"the run's approvals are none: {error.errors()[0]['msg']}",
            where="run.json",
            hint="Its `agents` were changed; start a new run.",
        ) from None


def _own_code(entry: AgentEntry) -> OwnCode:
    """The user's own code, as it is now: what has changed since gives the agent another digest."""
    own = OwnCode.from_parts(cast("Mapping[str, Any]", entry.settings.get("own", {})))
    if own == OwnCode():
        return own
    from evalkit.engine.own_parts import again

    return again(own)


def _limits(manifest: RunManifest, row: PlannedRow) -> AgentLimits:
    stored = cast("Mapping[str, float | None]", manifest.limits.get(f"{row.suite}/{row.task_id}", {}))
    steps, tokens = stored.get("steps"), stored.get("tokens")
    return AgentLimits(
        steps=None if steps is None else int(steps),
        tokens=None if tokens is None else int(tokens),
        time_s=stored.get("time_s"),
    )
