"""How does one trial go, from start to end?

Queue, start and set-up, the agent's own time, grading, commit: each with its own clock. Whatever goes
wrong is attributed in one place and makes the trial `unscored`; it never leaks into another phase's score.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from inspect_ai.model import GenerateConfig, Model
from inspect_ai.util import apply_limits, time_limit

from evalkit.engine.boundary import INTERRUPTED, attribute
from evalkit.engine.ledger import Ledger
from evalkit.engine.loop import LoopInput, Outcome, react
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.progress import Progress
from evalkit.engine.recorder import Recorder, Stopwatch, now
from evalkit.engine.scripted_model import current_script
from evalkit.engine.tools import agent_tools
from evalkit.errors import EvalkitError, ModelError
from evalkit.grading.grader import Grading, grade, take_deliverables, tests_digest
from evalkit.grading.setup import set_up
from evalkit.models.scripted import find_persona
from evalkit.sandbox import open_sandbox
from evalkit.sandbox.protocol import Environment, Sandbox
from evalkit.tasks.solution import load_solution
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

MAX_RETRIES = 5
"""Of one generation; then the endpoint counts as unreachable and the trial is unscored."""


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
    slots: anyio.CapacityLimiter
    since_begin: Stopwatch
    """Since the first trial could have been begun: what a trial waits is its time in the queue."""


async def run_trial(planned: PlannedTrial, sandbox: Sandbox, model: Model, context: RunContext) -> Trial:
    """Run one trial to its end and commit it, whatever happens. Only cancellation is raised on."""
    ledger = Ledger()
    async with context.slots:
        ledger.queue_s, ledger.started_at = context.since_begin.seconds, now()
        context.progress.started(planned)
        recorder = _recorder(planned, context)
        try:
            await _phases(planned, sandbox, model, context, recorder=recorder, ledger=ledger)
        except anyio.get_cancelled_exc_class():
            ledger.cancelled, ledger.failure = True, INTERRUPTED
            raise
        except Exception as error:  # noqa: BLE001  the boundary: a bad trial is data, not a crash
            ledger.failure = attribute(error)
            detail = {"origin": ledger.failure.origin, "message": ledger.failure.message}
            recorder.event("error", canonical_json(detail))
        finally:
            await _stop(sandbox, recorder)
            trial = ledger.trial(
                planned,
                run_id=context.run_id,
                sandbox=context.sandbox,
                host=context.host,
                recorder=recorder,
            )
            context.writer.commit(trial, recorder.steps)
            context.progress.finished(planned, trial)
    return trial


async def _stop(sandbox: Sandbox, recorder: Recorder) -> None:
    """Stop the sandbox, also while being cancelled. What it leaves behind is noted, and costs nobody a verdict."""
    with anyio.CancelScope(shield=True):
        try:
            await sandbox.stop()
        except (EvalkitError, OSError) as error:
            recorder.event("error", canonical_json({"not_cleaned_up": str(error)}))


def _recorder(planned: PlannedTrial, context: RunContext) -> Recorder:
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
        "sandbox": context.sandbox,
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
    with _clock(ledger, "start_s"):
        try:
            await sandbox.start()
        finally:
            ledger.build_s = sandbox.build_s
    ledger.start_s = (ledger.start_s or 0.0) - (ledger.build_s or 0.0)
    ledger.runtime, ledger.image_digest = sandbox.runtime, sandbox.image_digest
    with _clock(ledger, "setup_s"):
        await set_up(planned.task, sandbox)
    with _clock(ledger, "agent_s"):
        ledger.outcome = await _agent(planned, sandbox, model, recorder)
    with _clock(ledger, "grade_s"):
        await _judge(planned, sandbox, context, recorder=recorder, ledger=ledger)


async def _agent(planned: PlannedTrial, sandbox: Sandbox, model: Model, recorder: Recorder) -> Outcome:
    task, agent = planned.task, planned.agent
    if agent.model.route == "scripted":
        persona = find_persona(agent.model.name)
        moves = load_solution(task) if persona.needs_solution else ()
        current_script.set(persona.make(moves))
    tools = agent_tools(sandbox, agent.tool_settings, asks_confidence=bool(task.settings.confidence))
    given = LoopInput(
        instruction=task.instruction,
        model=model,
        tools=tuple(tools),
        sandbox=sandbox,
        recorder=recorder,
        limits=planned.limits,
        config=GenerateConfig(max_retries=MAX_RETRIES),
    )
    with apply_limits([time_limit(planned.limits.time_s)], catch_errors=True):
        return await react(given)
    if not recorder.thinks:
        raise ModelError(f"{agent.model} gave no answer within {planned.limits.time_s:g} s")
    recorder.event("limit", canonical_json({"limit": "time_limit", "seconds": planned.limits.time_s}))
    return Outcome("time_limit")


async def _judge(
    planned: PlannedTrial, sandbox: Sandbox, context: RunContext, *, recorder: Recorder, ledger: Ledger
) -> None:
    task = planned.task
    if task.grading_mode != "shared":
        await sandbox.halt()

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

    grading = Grading(store=context.writer.artifacts, open_sandbox=open_grader)
    ledger.grader_digest = tests_digest(task)
    taken = await take_deliverables(task, sandbox, grading)
    for path, reason in taken.refused.items():
        recorder.event("error", canonical_json({"not_delivered": path, "reason": reason}))
    ending = ledger.outcome.ending if ledger.outcome else None
    answer = ending.answer if ending else None
    ledger.verdict = await grade(task, sandbox, taken.deliverables, grading, answer=answer)


@contextmanager
def _clock(ledger: Ledger, field: str) -> Generator[None]:
    watch = Stopwatch()
    try:
        yield
    finally:
        setattr(ledger, field, watch.seconds)
