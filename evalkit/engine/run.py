"""How does a plan become a run on disk, through one Inspect eval?"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from evalkit._content import ROOT
from evalkit.engine.agent import Agent
from evalkit.engine.approvals.asking import Asker
from evalkit.engine.attempts import model_config
from evalkit.engine.capacity import Capacity
from evalkit.engine.checkpoint_plan import CheckpointPlan
from evalkit.engine.cost_limits import CostLimits
from evalkit.engine.faults.lasting import disks
from evalkit.engine.inspect_hooks import register
from evalkit.engine.inspect_log import redact_logs
from evalkit.engine.inspect_sandbox import InspectSandbox, SandboxRequest
from evalkit.engine.litellm_model import THINKING
from evalkit.engine.plan import Planned, PlannedSample, PlannedTrial
from evalkit.engine.progress import Progress
from evalkit.engine.recorder import Stopwatch
from evalkit.engine.registry import provider_name
from evalkit.engine.running import Running, RunResult, running
from evalkit.engine.sample_tasks import sample_tasks
from evalkit.engine.solving import Solving, current_solving
from evalkit.engine.stopping import Stopping
from evalkit.engine.trial import RunContext, run_trial
from evalkit.errors import EvalkitError, UsageError
from evalkit.grading.environment import agent_environment
from evalkit.models.litellm_setup import load
from evalkit.models.scripted import find_persona
from evalkit.trajectory.atomic import not_written
from evalkit.trajectory.writer import RunWriter

_MARKUP = re.compile(r"\[/?[a-z ]+\]")
_SYSTEM_ERROR = re.compile(r"(?:Errno |Error\()(\d+)")
"""How an error that Inspect met while it wrote its own log tells its number."""


def run_plan(
    plan: Sequence[Planned],
    writer: RunWriter,
    models: Mapping[str, Model],
    *,
    run_id: str,
    sandbox_kind: str,
    sandbox_runtime: str | None,
    readonly: tuple[Path, ...],
    capacity: Capacity,
    costs: CostLimits,
    progress: Progress,
    asker: Asker | None = None,
    effects: bool = True,
    checkpoints: CheckpointPlan | None = None,
) -> RunResult:
    """Run every planned trial, as many at once as there is capacity for, and compact the run's files at the end.

    `models` holds each agent's model by the agent's id. `asker` is asked where approvals say so.
    Trials that cannot be scored are rows like all others. Raises what stops the harness as a whole.
    """
    result = RunResult(path=Path(writer.path))
    context = RunContext(
        run_id=run_id,
        sandbox=sandbox_kind,
        sandbox_runtime=sandbox_runtime,
        readonly=readonly,
        hidden=_hidden(plan, readonly),
        host=host_class(),
        writer=writer,
        progress=progress,
        capacity=capacity,
        costs=costs,
        asker=asker,
        since_begin=Stopwatch(),
        effects=effects,
        checkpoints=checkpoints,
    )
    tasks = _inspect_tasks([one for one in plan if isinstance(one, PlannedTrial)], models, context)
    tasks += sample_tasks([one for one in plan if isinstance(one, PlannedSample)], models, context)
    progress.planned(len(plan))
    logs_folder = Path(writer.path) / "artifacts" / "inspect"
    logs = _tried(plan, tasks, context, result, logs_folder)
    if result.broken is not None:
        with contextlib.suppress(UsageError):  # the disk that stopped the run may not take this either
            writer.close()
        raise result.broken
    redact_logs(logs_folder)
    writer.finish()
    _account_for(plan, logs, result)
    return result


def _tried(
    plan: Sequence[Planned],
    tasks: list[inspect_ai.Task],
    context: RunContext,
    result: RunResult,
    logs_folder: Path,
) -> list[EvalLog]:
    """Run it all; what becomes of it stands in the result, also that somebody interrupted it. Inspect's own logs."""
    logs: list[EvalLog] = []
    stopping = Stopping()
    trials = {one.trial_id(context.run_id): one for one in plan}
    token = running.set(Running(trials, context, result, stopping))
    try:
        with stopping.on_interrupt():
            logs = _evaluate(tasks, logs_folder, at_once=context.capacity.ceiling)
        result.interrupted = stopping.asked
    except KeyboardInterrupt:
        result.interrupted = True
    finally:
        running.reset(token)
    return logs


def _hidden(plan: Sequence[Planned], readonly: Sequence[Path]) -> tuple[Path, ...]:
    """What no sandbox may show: tests, solutions, and the right answers in the code of Inspect tasks.

    Code beside folders that evalkit.toml shows to everybody stays visible with them.
    """
    own = {one.suite.path for one in plan if isinstance(one, PlannedTrial)}
    theirs = {one.suite.code for one in plan if isinstance(one, PlannedSample)}
    shown = {folder for folder in theirs if any(one.is_relative_to(folder) for one in readonly)}
    return (ROOT / "suites", *own, *(theirs - shown))


def _evaluate(tasks: list[inspect_ai.Task], logs: Path, *, at_once: int) -> list[EvalLog]:
    """One Inspect eval of everything; what Inspect itself logs goes to `logs`."""
    return inspect_ai.eval(  # pyright: ignore[reportUnknownMemberType]  Inspect's own
        tasks,
        model=None,
        display="none",
        log_dir=str(logs),
        log_format="eval",
        log_realtime=False,
        log_model_api=True,
        log_level="error",
        log_header_only=True,
        fail_on_error=False,
        max_samples=at_once,
        max_tasks=len(tasks),
        score=False,
        ctl_server=False,
        acp_server=False,
    )


def _account_for(plan: Sequence[Planned], logs: Sequence[EvalLog], result: RunResult) -> None:
    """Trials that have no row were interrupted; anything else is a defect, and is said."""
    missing = len(plan) - len(result.trials)
    if missing == 0:
        return
    if not result.interrupted and logs and not any(log.status == "cancelled" for log in logs):
        reasons = {log.error.message for log in logs if log.error is not None}
        why = "; ".join(sorted(reasons)) or "Inspect does not say why"
        if disk := _SYSTEM_ERROR.search(why):
            raise not_written(result.path, OSError(int(disk[1]), why))
        raise EvalkitError(
            f"{missing} of {len(plan)} trials were never begun: {why}",
            where=str(result.path),
            hint=f"What finished is kept. Try the rest again: evalkit resume {result.path}",
        )
    result.interrupted = True


def host_class() -> str:
    """What kind of machine this is, without naming it: system, processor, cores, memory in GiB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system().lower()}-{platform.machine()}-{os.cpu_count()}cpu-{memory:.0f}GiB"


def _inspect_tasks(
    plan: Sequence[PlannedTrial], models: Mapping[str, Model], context: RunContext
) -> list[inspect_ai.Task]:
    by_agent: defaultdict[str, list[PlannedTrial]] = defaultdict(list)
    for planned in plan:
        by_agent[planned.agent.id].append(planned)
    return [
        inspect_ai.Task(
            name=f"evalkit-{number}",
            dataset=MemoryDataset([_sample(planned, context) for planned in trials]),
            solver=_trial_solver(),
            model=models[agent],
            config=model_config(trials[0].agent),
        )
        for number, (agent, trials) in enumerate(by_agent.items())
    ]


def open_model(agent: Agent) -> Model:
    """The agent's model, ready to be asked. Raises UsageError where Inspect cannot open it."""
    if agent.model.route == "litellm":
        given: dict[str, Any] = {THINKING: agent.thinking.level}
        return get_model(f"evalkit/{agent.model}", base_url=agent.base_url, memoize=False, **given)
    if agent.model.route == "inspect":
        load()  # for the prices; while a trial runs it would take its time
    name = agent.model.name if agent.model.route == "inspect" else str(agent.model)
    given: dict[str, Any] = {THINKING: agent.thinking.level} if agent.model.route == "scripted" else {}
    try:
        return get_model(name, base_url=agent.base_url, **given)
    except Exception as error:
        said = " ".join(_MARKUP.sub("", str(error)).split())
        raise UsageError(
            f"{agent.model} cannot be opened: {said}",
            hint="Check the model's name, that its provider's package is installed, and that its API key is "
            "set in the environment.",
        ) from error


def _sample(planned: PlannedTrial, context: RunContext) -> Sample:
    scripted = planned.agent.model.route == "scripted"
    with_solution = scripted and find_persona(planned.agent.model.name).needs_solution
    environment = agent_environment(planned.task, with_solution=with_solution)
    request = SandboxRequest(
        environment=replace(
            environment, readonly=context.readonly, hidden=context.hidden, disks=disks(planned.fault)
        ),
        run_id=context.run_id,
        trial_id=planned.trial_id(context.run_id),
        runtime=context.sandbox_runtime,
        lazy=True,
    )
    return Sample(
        id=planned.trial_id(context.run_id),
        input=planned.task.instruction,
        sandbox=SandboxEnvironmentSpec(provider_name(context.sandbox), request),
    )


@solver
def _trial_solver() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        register()
        run = running.get()
        planned, box = run.plan[str(state.sample_id)], sandbox().as_type(InspectSandbox)
        if run.ends or not isinstance(planned, PlannedTrial):
            return state
        current_solving.set(Solving(state, generate, box))
        try:
            with run.stopping.trial():
                run.result.trials.append(await run_trial(planned, box.inner, get_model(), run.context))
        except (EvalkitError, OSError) as error:
            run.result.broken = error
        return state

    return solve
