# pyright: reportPrivateUsage=false
"""How does one trial of a sample of an Inspect task go, from start to end?

Start, files and set-up, the agent's own time, scoring: the phases, clocks and origins are those of every trial. The
agent is the task's own solver chain unless another loop was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspect_ai._eval.task.sandbox import read_sandboxenv_file, resolve_sample_files
from inspect_ai._util.path import chdir
from inspect_ai.model import Model
from inspect_ai.scorer import Target
from inspect_ai.scorer._score import init_scoring_context
from inspect_ai.solver import Solver, chain, use_tools
from inspect_ai.tool import Tool
from inspect_ai.util import (
    Limit,
    LimitExceededError,
    apply_limits,
    cost_limit,
    message_limit,
    time_limit,
    token_limit,
    working_limit,
)

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.approvals.asking import Asker
from evalkit.engine.approvals.guard import guarded
from evalkit.engine.inspect_scoring import score_sample
from evalkit.engine.inspect_suite import Place
from evalkit.engine.ledger import Ledger
from evalkit.engine.loop import Outcome
from evalkit.engine.loops import make_loop
from evalkit.engine.own_tools import own_tools
from evalkit.engine.plan import PlannedSample
from evalkit.engine.recorder import Recorder
from evalkit.engine.sample_loop import react_on_sample
from evalkit.engine.solver_loop import run_solver
from evalkit.engine.solving import Solving, current_solving
from evalkit.engine.spending import Spending
from evalkit.engine.tools import agent_tools
from evalkit.engine.trial import RunContext, conduct, start_sandbox
from evalkit.errors import EvalkitError, ModelError, TaskError
from evalkit.sandbox.protocol import DEFAULT_WORKDIR, Sandbox
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.trial import StopReason, Trial

_SETUP_S = 300.0
_STOPPED: dict[str, StopReason] = {
    "time": "time_limit",
    "working": "time_limit",
    "token": "token_limit",
    "cost": "cost_limit",
    "message": "step_limit",
    "turn": "step_limit",
    "custom": "step_limit",
    "operator": "cancelled",
}


async def run_sample(
    planned: PlannedSample, solving: Solving, model: Model, context: RunContext, *, place: Place | None
) -> Trial:
    """Run one sample to its end and commit it, whatever happens."""

    async def phases(recorder: Recorder, ledger: Ledger) -> None:
        current_solving.set(solving)
        if solving.box is not None:
            await _prepare(planned, solving.box.inner, recorder, ledger)
            solving.box.started = True
        scorers = planned.suite.task.scorer or []
        target = Target(planned.task.sample.target)
        if scorers:  # for solvers that ask for their score on the way
            init_scoring_context(scorers, target)
        try:
            with ledger.clock("agent_s"):
                ledger.outcome = await _work(
                    planned, solving, model, recorder, ledger.spending, asker=context.asker, place=place
                )
            with ledger.clock("grade_s"):
                ledger.verdict = await score_sample(
                    scorers, solving.state, target, pass_reward=planned.task.settings.pass_reward
                )
        finally:
            await _clean_up(planned, solving, recorder)

    return await conduct(
        planned,
        solving.box.inner if solving.box else None,
        context,
        phases,
        kind=place.kind if place else None,
        memory_mb=place.environment.limits.memory_mb if place else None,
    )


async def _prepare(planned: PlannedSample, sandbox: Sandbox, recorder: Recorder, ledger: Ledger) -> None:
    await start_sandbox(sandbox, recorder, ledger)
    with ledger.clock("setup_s"):
        await _put_files(planned, sandbox)
        await _set_up(planned, sandbox)


async def _put_files(planned: PlannedSample, sandbox: Sandbox) -> None:
    files = planned.task.sample.files or {}
    try:
        with chdir(planned.suite.folder):
            found = {
                path: await read_sandboxenv_file(text) for path, text in resolve_sample_files(files).items()
            }
    except Exception as error:
        raise TaskError(f"a file of the sample cannot be read: {type(error).__name__}: {error}") from error
    for path, data in found.items():
        await sandbox.write_file(path.removeprefix("default:"), data)


async def _set_up(planned: PlannedSample, sandbox: Sandbox) -> None:
    given = planned.task.sample.setup
    if given is None:
        return
    with chdir(planned.suite.folder):
        script = await read_sandboxenv_file(given)
    if not script.lstrip().startswith(b"#!"):
        script = b"#!/usr/bin/env bash\n\n" + script
    path = "/tmp/evalkit-setup"  # noqa: S108  inside the sandbox
    await sandbox.write_file(path, script)
    done = await sandbox.exec(
        f"chmod +x {path} && {path}; code=$?; rm -f {path}; exit $code", timeout_s=_SETUP_S
    )
    if done.exit_code != 0:
        how = "ran out of time" if done.timed_out else f"ended with exit code {done.exit_code}"
        last = (done.stderr.text.strip() or done.stdout.text.strip())[-500:]
        raise TaskError(f"the set-up of the sample {how}: {last}")


async def _work(
    planned: PlannedSample,
    solving: Solving,
    model: Model,
    recorder: Recorder,
    spending: Spending,
    *,
    asker: Asker | None,
    place: Place | None,
) -> Outcome:
    """The agent's part, up to its own end or a limit, the task's own or ours."""
    clock = AgentClock(planned.limits.time_s)
    base = place.environment.workdir if place and place.environment.workdir else DEFAULT_WORKDIR
    further = planned.suite.task.approval or ()
    try:
        with (
            apply_limits(_limits(planned), catch_errors=True) as reached,
            clock.running(),
            guarded(planned, asker=asker, base=base, clock=clock, further=further),
        ):
            if planned.agent.loop == "react":
                return await react_on_sample(
                    planned, solving, model, recorder, clock=clock, spending=spending
                )
            return await _solve(planned, solving, recorder, clock=clock, spending=spending)
    finally:
        if planned.agent.model.route != "scripted":
            spending.excuse(clock)
    if reached.limit_error is None:
        return _out_of_time(planned, recorder)
    kind, bound = reached.limit_error.type, reached.limit_error.limit
    if kind == "time" and not recorder.thinks:
        raise ModelError(f"{planned.agent.model} gave no answer within {bound:g} s")
    recorder.event("limit", canonical_json({"limit": f"{kind}_limit", "value": bound}))
    return Outcome(_STOPPED[kind])


def _out_of_time(planned: PlannedSample, recorder: Recorder) -> Outcome:
    seconds = planned.limits.time_s
    if not recorder.thinks:
        raise ModelError(f"{planned.agent.model} gave no answer within {seconds:g} s")
    recorder.event("limit", canonical_json({"limit": "time_limit", "seconds": seconds}))
    return Outcome("time_limit")


async def _solve(
    planned: PlannedSample, solving: Solving, recorder: Recorder, *, clock: AgentClock, spending: Spending
) -> Outcome:
    task = planned.suite.task
    setup = task.setup if isinstance(task.setup, Sequence) else [task.setup] if task.setup else []
    turns = [bound for bound in (planned.limits.steps, task.turn_limit) if bound is not None]
    limits = replace(planned.limits, steps=min(turns, default=None))
    try:
        async with own_tools(planned.agent.own) as further:
            chosen = _solver(planned, solving, further)
            return await run_solver(
                [*setup, chosen], solving, recorder, limits, clock=clock, spending=spending
            )
    except (LimitExceededError, EvalkitError):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if planned.agent.own.loop is not None:  # the task is not to blame for a loop that was chosen for it
            raise
        raise TaskError(f"the Inspect task's solver failed: {said}") from error


def _solver(planned: PlannedSample, solving: Solving, further: Sequence[Tool]) -> Solver:
    """The loop that was asked for, with our tools where there is a sandbox for them; else the task's own."""
    agent = planned.agent
    if agent.own.loop is None:
        return planned.suite.task.solver
    tools = agent_tools(solving.box.inner, agent.tool_settings, asks_confidence=False) if solving.box else []
    made = make_loop(agent.own.loop, [*tools, *further])
    return chain(use_tools(*made.tools), made.solver) if made.tools else made.solver


def _limits(planned: PlannedSample) -> list[Limit]:
    """The task's own limits, and ours beside them; each ends the agent, none its scoring."""
    task = planned.suite.task
    own = token_limit(task.token_limit, type=task.token_limit_type or "all")
    limits = [message_limit(task.message_limit), own, cost_limit(task.cost_limit)]
    return [
        *limits,
        time_limit(task.time_limit),
        working_limit(task.working_limit),
    ]


async def _clean_up(planned: PlannedSample, solving: Solving, recorder: Recorder) -> None:
    cleanup = planned.suite.task.cleanup
    if cleanup is None:
        return
    try:
        await cleanup(solving.state)
    except Exception as error:  # noqa: BLE001  it comes after the verdict, and costs nobody one
        recorder.event("error", canonical_json({"not_cleaned_up": f"{type(error).__name__}: {error}"}))
