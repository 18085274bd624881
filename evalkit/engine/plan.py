"""Which trials does a run consist of?"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from evalkit.engine.agent import Agent
from evalkit.engine.faults.choice import FaultChoice
from evalkit.engine.faults.fitness import check_fits
from evalkit.engine.inspect_suite import InspectSuite, InspectTask
from evalkit.engine.limits import AgentLimits
from evalkit.engine.own_code import OwnCode
from evalkit.errors import UsageError
from evalkit.grading.unsupported import refuse_unsupported, refuse_without_docker
from evalkit.sandbox import SandboxKind
from evalkit.tasks.faults import Fault
from evalkit.tasks.settings import Settings
from evalkit.tasks.suite import RunSettings, Suite
from evalkit.tasks.task import Task
from evalkit.tasks.twin import twin_of
from evalkit.trajectory.canonical import canonical_json

DEFAULT_STEP_LIMIT = 50
TWIN = "twin"
"""The variant of a task's impossible twin."""
Arms = Literal["all", "clean", "faulted", "twin"]
"""Which variants of a task are planned: as it is, with each of its faults, its impossible twin, or all of them."""


class PlannedSuite(Protocol):
    """What a plan needs to know of any suite."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def run(self) -> RunSettings: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...


class PlannedTask(Protocol):
    """What a plan needs to know of any task."""

    @property
    def id(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def grading_mode(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Planned:
    """One row of the plan: (suite, task, variant, epoch, agent), and the attempt at it."""

    suite: PlannedSuite
    task: PlannedTask
    agent: Agent
    epoch: int
    limits: AgentLimits
    variant: str = "clean"
    attempt: int = 1
    fault: Fault | None = None
    """What goes wrong in this variant; None in the others."""

    def trial_id(self, run_id: str) -> str:
        """Readable, such as `fix-off-by-one.oracle.1.3fa2c19d`, and unique among all trials of the run.

        Where it is not clean, the variant stands after the task: `fix-off-by-one.flaky-api.oracle.1.2b7f01aa`.
        """
        return trial_id_of(
            run_id,
            suite=self.suite.name,
            task_id=self.task.id,
            variant=self.variant,
            agent=self.agent.id,
            epoch=self.epoch,
            attempt=self.attempt,
        )

    @property
    def is_twin(self) -> bool:
        """Whether it is an impossible twin of its task."""
        return self.variant == TWIN

    @property
    def depth(self) -> Literal["own", "events"]:
        """Whether our own loop records every step, or steps are what Inspect's events tell."""
        return "own" if self.agent.loop == "react" else "events"


@dataclass(frozen=True, slots=True)
class PlannedTrial(Planned):
    """A trial of one of evalkit's own tasks."""

    suite: Suite
    task: Task
    only_verdict: bool = False
    """Whether nothing is asked but whether it passes: a sealed grader's word on equal deliverables holds for it, too,
    and no naive grader is asked.
    """


@dataclass(frozen=True, slots=True)
class PlannedSample(Planned):
    """A trial of a sample of an Inspect task."""

    suite: InspectSuite
    task: InspectTask


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
    loop: str | None = None
    """None: our own on our tasks, a task's own solver on Inspect's."""
    faults: FaultChoice = field(default_factory=FaultChoice)
    arms: Arms = "all"
    twins: bool = True
    """Whether impossible twins are among them."""


def trial_id_of(
    run_id: str, *, suite: str, task_id: str, variant: str, agent: str, epoch: int, attempt: int
) -> str:
    """The id of an attempt at a planned row of a run; see `Planned.trial_id`."""
    row = [run_id, suite, task_id, variant, agent, epoch, attempt]
    digest = hashlib.sha256(canonical_json(row).encode()).hexdigest()
    task = task_id if variant == "clean" else f"{task_id}.{variant}"
    return f"{task}.{agent.rpartition('/')[2]}.{epoch}.{digest[:8]}"


AnySuite = Suite | InspectSuite


def tasks_of(plan: Iterable[Planned]) -> tuple[Task, ...]:
    """Each of our own tasks of a plan once, whatever the variant."""
    found: dict[Path, Task] = {}
    for trial in plan:
        if isinstance(trial, PlannedTrial):
            found.setdefault(trial.task.path, trial.task)
    return tuple(found.values())


def make_plan(suites: Sequence[AnySuite], agents: Sequence[Agent], asked: Asked) -> tuple[Planned, ...]:
    """Every task of every suite x variant x agent x epoch, in that order, epochs innermost, the clean variant first and
    the impossible twin last.

    Raises UsageError where nothing matches, or a task asks for what cannot be honoured. Only faulted arms and twins
    may be none at all.
    """
    trials: list[Planned] = []
    for suite in suites:
        if isinstance(suite, InspectSuite):
            trials += _samples(suite, agents, asked)
            continue
        for task in _chosen(suite.tasks, asked):
            refuse_unsupported(task)
            if asked.sandbox == "local":
                refuse_without_docker(task)
            limits = _limits(suite, task, asked)
            epochs = asked.epochs or suite.run.epochs or 1
            faults = asked.faults.of(task.id, task.settings.faults)
            for fault in faults:
                with asked.faults.blamed(fault):
                    check_fits(task, fault)
            trials += [
                PlannedTrial(suite, of_task, agent, epoch, limits, variant, fault=fault)
                for variant, of_task, fault in _variants(task, faults, asked)
                for agent in agents
                for epoch in range(1, epochs + 1)
            ]
    if trials:
        if not any(agent.own.tools or agent.own.servers for agent in agents):
            asked.faults.check_tools()
        asked.faults.check_used(
            [trial.task.id for trial in trials if isinstance(trial, PlannedTrial)],
            [task.id for suite in suites if isinstance(suite, Suite) for task in suite.tasks],
        )
    elif asked.arms in {"all", "clean"}:
        names = ", ".join(sorted({task.id for suite in suites for task in suite.tasks}))
        raise UsageError(
            f"no task matches '{asked.task}'",
            hint=f"Tasks: {names}. A pattern that begins with ! leaves out what it matches.",
        )
    return tuple(trials)


def _samples(suite: InspectSuite, agents: Sequence[Agent], asked: Asked) -> list[Planned]:
    """Limits of the Inspect task's own hold beside those that are asked for here."""
    for agent in agents:
        if agent.model.route == "scripted":
            raise UsageError(
                f"{agent.model} cannot work on the Inspect task {suite.name}: it plays a task's own solution, and "
                "Inspect tasks have none",
                where=suite.source,
                hint="Name a model: --model PROVIDER/MODEL.",
            )
    own = [agent if asked.loop else replace(agent, loop="task", own=OwnCode()) for agent in agents]
    steps = asked.step_limit or (DEFAULT_STEP_LIMIT if asked.loop else suite.backstop)
    limits = AgentLimits(steps=steps, tokens=asked.token_limit, time_s=asked.time_limit_s)
    epochs = asked.epochs or suite.run.epochs or 1
    return [
        PlannedSample(suite=suite, task=task, agent=agent, epoch=epoch, limits=limits)
        for task in _chosen(suite.tasks, asked)
        for agent in own
        for epoch in range(1, epochs + 1)
    ]


def _variants(task: Task, faults: Sequence[Fault], asked: Asked) -> Iterator[tuple[str, Task, Fault | None]]:
    """What each variant is called, the task that it is, and what goes wrong in it."""
    if asked.arms in {"all", "clean"}:
        yield "clean", task, None
    if asked.arms in {"all", "faulted"}:
        for fault in faults:
            yield fault.id, task, fault
    if asked.arms in {"all", "twin"} and asked.twins and (twin := twin_of(task)) is not None:
        yield TWIN, twin, None


class _Named(Protocol):
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=_Named)


def _chosen(tasks: Sequence[N], asked: Asked) -> tuple[N, ...]:
    pattern = asked.task or "*"
    wanted = not pattern.startswith("!")
    glob = pattern.removeprefix("!")
    matching = [task for task in tasks if fnmatch.fnmatchcase(task.id, glob) is wanted]
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
