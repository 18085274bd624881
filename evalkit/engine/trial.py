"""How does one trial go, from start to end?

Queue, start and set-up, the agent's own time, grading, commit: each with its own clock. Whatever goes
wrong is attributed in one place and makes the trial `unscored`; it never leaks into another phase's score.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from inspect_ai.model import Model

from evalkit.engine.approvals.asking import Asker
from evalkit.engine.boundary import INTERRUPTED, attribute
from evalkit.engine.capacity import Capacity
from evalkit.engine.checkpoint_plan import CheckpointPlan, without_states
from evalkit.engine.checkpoints import Checkpoints
from evalkit.engine.cost_limits import CostLimits
from evalkit.engine.effects.attribution import Attribution
from evalkit.engine.effects.measuring import EffectsMeter
from evalkit.engine.effects.scope import scope_of
from evalkit.engine.evidence.gathering import Evidence
from evalkit.engine.evidence.honeypot import honeypots_of
from evalkit.engine.faults.injector import Injector
from evalkit.engine.inspect_thinking import wire_through_inspect
from evalkit.engine.ledger import Ledger
from evalkit.engine.paid_call import current_money
from evalkit.engine.plan import Planned, PlannedTrial
from evalkit.engine.progress import Progress
from evalkit.engine.recorder import Recorder, Stopwatch, now
from evalkit.engine.stages import TrialParts, run_stages
from evalkit.errors import EvalkitError
from evalkit.grading.environment import image_user
from evalkit.grading.grader import Grading
from evalkit.grading.healthcheck import until_healthy
from evalkit.grading.known_verdicts import KnownVerdicts
from evalkit.grading.setup import set_up
from evalkit.models.prices import find_price
from evalkit.sandbox import open_sandbox
from evalkit.sandbox.protocol import Environment, Sandbox
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


@dataclass(frozen=True, slots=True)
class RunContext:
    """What all trials of a run share."""

    run_id: str
    sandbox: str
    sandbox_runtime: str | None
    """The container runtime that was asked for; None: the engine's default."""
    readonly: tuple[Path, ...]
    """Further host folders that sandboxes may read."""
    hidden: tuple[Path, ...]
    """Host folders that no sandbox may show: suites, with their tests and solutions."""
    host: str
    writer: RunWriter
    progress: Progress
    capacity: Capacity
    costs: CostLimits
    asker: Asker | None
    """Who is asked where approvals say so; None: nobody is there."""
    since_begin: Stopwatch
    """Since the first trial could have been begun: what a trial waits is its time in the queue."""
    effects: bool = True
    """Whether lasting changes are measured."""
    known_verdicts: dict[tuple[str, str, str], KnownVerdicts] = field(
        default_factory=dict[tuple[str, str, str], KnownVerdicts]
    )
    """By suite, task and variant what sealed graders have said to trials of which nothing else is asked."""
    checkpoints: CheckpointPlan | None = None
    """Which states of agents' work are copied and graded; None: none."""


async def run_trial(planned: PlannedTrial, sandbox: Sandbox, model: Model, context: RunContext) -> Trial:
    """Run one trial to its end and commit it, whatever happens. Only cancellation is raised on."""

    async def phases(recorder: Recorder, ledger: Ledger) -> None:
        await _phases(planned, sandbox, model, context, recorder=recorder, ledger=ledger)

    memory_mb = planned.task.harbor.environment.memory_mb
    return await conduct(planned, sandbox, context, phases, kind=context.sandbox, memory_mb=memory_mb)


async def conduct(
    planned: Planned,
    sandbox: Sandbox | None,
    context: RunContext,
    phases: Callable[[Recorder, Ledger], Awaitable[None]],
    *,
    kind: str | None,
    memory_mb: int | None,
) -> Trial:
    """Wait for room, go through a trial's phases, and commit its row, whatever happens in them.

    `sandbox`, of this `kind`, is stopped at the end; it asks for this much memory, where it says.
    """
    ledger = Ledger(injector=Injector(planned.fault, planned.task.id) if planned.fault else None)
    async with context.capacity.slot(memory_mb):
        ledger.queue_s, ledger.started_at = context.since_begin.seconds, now()
        context.progress.started(planned)
        recorder = _recorder(planned, context, kind)
        current_money.set(context.costs.of_trial())
        if planned.agent.model.route == "inspect":
            ledger.spending.price = find_price(planned.agent.model.name)
            ledger.spending.wire = wire_through_inspect(planned.agent.model, planned.agent.thinking.level)
        try:
            await phases(recorder, ledger)
        except anyio.get_cancelled_exc_class():
            if ledger.verdict is None:  # else only states of its work were still being graded
                ledger.cancelled, ledger.failure = True, INTERRUPTED
            raise
        except Exception as error:  # noqa: BLE001  the boundary: a bad trial is data, not a crash
            ledger.failure = attribute(error)
            detail = {"origin": ledger.failure.origin, "message": ledger.failure.message}
            recorder.event("error", canonical_json(detail))
        finally:
            if sandbox is not None:
                await _stop(sandbox, recorder)
            if ledger.injector is not None and (ending := ledger.injector.ending) is not None:
                recorder.event("fault", ending)
            trial_id = planned.trial_id(context.run_id)
            effects = ledger.meter.effects(trial_id) if ledger.meter is not None else ()
            ledger.conclude(effects, twin=planned.is_twin)
            trial = ledger.trial(
                planned,
                run_id=context.run_id,
                sandbox=kind,
                host=context.host,
                recorder=recorder,
            )
            context.writer.commit(trial, recorder.steps, effects)
            context.progress.finished(planned, trial)
    return trial


async def start_sandbox(sandbox: Sandbox, recorder: Recorder, ledger: Ledger) -> None:
    """Start it on its own clock, and record what it is and which of its limits the machine cannot give."""
    with ledger.clock("start_s"):
        try:
            await sandbox.start()
        finally:
            ledger.build_s = sandbox.build_s
    ledger.start_s = (ledger.start_s or 0.0) - (ledger.build_s or 0.0)
    ledger.runtime, ledger.image_digest = sandbox.runtime, sandbox.image_digest
    for limit in sandbox.reduced:
        recorder.event("limit", canonical_json({"reduced": limit}))


async def _stop(sandbox: Sandbox, recorder: Recorder) -> None:
    """Stop the sandbox, also while being cancelled. What it leaves behind is noted, and costs nobody a verdict."""
    with anyio.CancelScope(shield=True):
        try:
            await sandbox.stop()
        except (EvalkitError, OSError) as error:
            recorder.event("error", canonical_json({"not_cleaned_up": str(error)}))


def _recorder(planned: Planned, context: RunContext, kind: str | None) -> Recorder:
    header = {
        "run_id": context.run_id,
        "suite": planned.suite.name,
        "suite_digest": planned.suite.digest,
        "task_id": planned.task.id,
        "task_digest": planned.task.digest,
        "variant": planned.variant,
        "epoch": planned.epoch,
        "attempt": planned.attempt,
        "agent": planned.agent.id,
        "agent_digest": planned.agent.digest,
        "sandbox": kind,
        "host": context.host,
    }
    journal = context.writer.begin(planned.trial_id(context.run_id), header)

    def keep(step: Step) -> None:
        journal.append(step)
        context.progress.stepped(planned, step)

    return Recorder(keep)


async def _phases(
    planned: PlannedTrial,
    sandbox: Sandbox,
    model: Model,
    context: RunContext,
    *,
    recorder: Recorder,
    ledger: Ledger,
) -> None:
    task = planned.task
    await start_sandbox(sandbox, recorder, ledger)
    ledger.evidence = Evidence(honeypots_of(task), sandbox, recorder)
    if context.effects:
        ledger.meter = await _meter(planned, sandbox, context, recorder)
    with ledger.clock("setup_s"):
        await set_up(task.recipe, task.path / "environment" / "Dockerfile", sandbox)
        if (check := task.harbor.environment.healthcheck) is not None:
            await until_healthy(check, sandbox, user=image_user(task), where=str(task.path / "task.toml"))
    grading = _grading(planned, context)
    if context.checkpoints is not None and not planned.is_twin and without_states(task) is None:
        ledger.checkpoints = Checkpoints(
            task, sandbox, grading, context.checkpoints, digest_tells=context.sandbox == "local"
        )
    await run_stages(TrialParts(planned, sandbox, model, recorder, ledger, grading, context.asker))


async def _meter(
    planned: PlannedTrial, sandbox: Sandbox, context: RunContext, recorder: Recorder
) -> EffectsMeter:
    task, workdir = planned.task, planned.task.workdir
    environment = task.harbor.environment
    if context.sandbox != "local" and environment.docker_image is not None and not environment.workdir:
        told = await sandbox.exec(("pwd",), timeout_s=60)  # only the image knows; nobody has worked in it yet
        workdir = told.stdout.text.strip() or workdir
    attribution = Attribution(sandbox, only_workdir=context.sandbox != "local")
    scope = scope_of(task, workdir)
    return EffectsMeter(sandbox, scope, recorder, workdir, attribution, network=task.agent_network)


def _grading(planned: PlannedTrial, context: RunContext) -> Grading:
    def open_grader(environment: Environment) -> Sandbox:
        trial_id = f"{planned.trial_id(context.run_id)}.grader"
        extended = replace(environment, readonly=context.readonly, hidden=context.hidden)
        return open_sandbox(
            context.sandbox,
            extended,
            run_id=context.run_id,
            trial_id=trial_id,
            runtime=context.sandbox_runtime,
        )

    of_task = (planned.suite.name, planned.task.id, planned.variant)
    known = context.known_verdicts.setdefault(of_task, KnownVerdicts()) if planned.only_verdict else None
    return Grading(store=context.writer.artifacts, open_sandbox=open_grader, known=known)
