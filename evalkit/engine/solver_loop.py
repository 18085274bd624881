"""How does somebody else's agent loop, any solver of Inspect's, work on a trial?

It does as it likes; what it does is recorded from Inspect's events, and from our own tools where it uses them. Our
limits hold it through Inspect, and before every generation it is seen whether there may be one.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import anyio.lowlevel
from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
from inspect_ai.solver import Generate, Solver, TaskState
from inspect_ai.util import (
    Limit,
    LimitExceededError,
    SandboxUnavailableError,
    apply_limits,
    token_limit,
    turn_limit,
)

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.attempts import Attempts, current_attempts
from evalkit.engine.effects.attribution import settle
from evalkit.engine.event_steps import EventSteps
from evalkit.engine.limits import AgentLimits, note_spent, tokens_spent
from evalkit.engine.loop import Outcome
from evalkit.engine.recorder import Recorder
from evalkit.engine.solving import Solving
from evalkit.engine.spending import Spending
from evalkit.engine.traces import Ending, Traces, current_traces
from evalkit.errors import SandboxError, TaskError
from evalkit.models.budget import Spent
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Event


@dataclass(slots=True)
class _Watch:
    """Sees to it that no generation begins after the agent's end."""

    steps: EventSteps
    traces: Traces
    limits: AgentLimits
    scope: anyio.CancelScope
    """In which the loop runs."""
    bound: Limit = field(default_factory=lambda: turn_limit(None))
    """Names our own refusals, so that they end this loop and nothing else."""
    reached: LimitExceededError | None = None
    """The limit that has ended the loop, whatever the loop itself makes of it."""

    def before_generation(self) -> None:
        """Record what has happened. Raises LimitExceededError where the agent has ended, or spent its steps."""
        self.steps.flush()
        done, most = self.steps.generations, self.limits.steps
        if (
            self.steps.failure is not None
            or self.traces.ended is not None
            or (most is not None and done >= most)
        ):
            raise self.end(LimitExceededError("turn", value=done, limit=most or done, source=self.bound))

    def end(self, limit: LimitExceededError) -> LimitExceededError:
        """End the loop, also one that takes every exception for a passing trouble and goes on."""
        self.reached = limit
        self.scope.cancel()
        return limit

    def guarded(self, generate: Generate) -> Generate:
        """What solvers generate with: a limit that it meets ends them."""

        async def guarded(*args: Any, **more: Any) -> TaskState:
            await anyio.lowlevel.checkpoint()  # a loop that takes no notice must let others go on
            try:
                return await generate(*args, **more)
            except LimitExceededError as limit:
                raise self.end(limit)  # noqa: B904  it is the same

        return cast("Generate", guarded)


_watch: ContextVar[_Watch | None] = ContextVar("evalkit_watch", default=None)


class _WatchHook(Hooks):
    """Asks, before every generation of a loop that is not ours, whether there may be one."""

    def enabled(self) -> bool:
        """Only where such a loop runs."""
        return _watch.get() is not None

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Ask."""
        del data
        watch = _watch.get()
        if watch is not None:
            watch.before_generation()
            await settle()


@functools.cache
def _register() -> None:
    """Make Inspect ask. Only now: of hooks that are there when a process's first eval begins, Inspect prints a list."""
    hooks(name="evalkit_watch", description="Holds other loops to a trial's limits.")(_WatchHook)


async def run_solver(
    chain: Sequence[Solver],
    solving: Solving,
    recorder: Recorder,
    limits: AgentLimits,
    *,
    clock: AgentClock,
    spending: Spending,
) -> Outcome:
    """Run solvers one after the other, until one of them says that it is done, and record what happens.

    `solving.state` is always the latest state.
    """
    _register()
    traces = Traces()
    steps = EventSteps(recorder, traces, spending)
    scope = anyio.CancelScope()
    watch = _Watch(steps, traces, limits, scope)
    generate = watch.guarded(solving.generate)
    watch_token, trace_token = _watch.set(watch), current_traces.set(traces)
    attempts = Attempts(clock, recorder, spending)
    attempts_token = current_attempts.set(attempts)
    try:
        with apply_limits([watch.bound, token_limit(limits.tokens)], catch_errors=True) as reached:
            with scope:
                for one in chain:
                    solving.state = _state(one, await one(solving.state, generate))
                    if solving.state.completed:
                        break
            if watch.reached is not None:
                raise watch.reached  # noqa: TRY301  where the limits are caught
    except Spent as spent:
        steps.flush(final=True)
        return Outcome(note_spent(recorder, spent))
    except asyncio.CancelledError:
        if _is_being_cancelled():
            raise
        raise TaskError("the solver cancelled itself") from None
    except SandboxUnavailableError as error:
        raise SandboxError(str(error)) from error
    except Exception as error:
        steps.flush(final=True)
        if isinstance(error, LimitExceededError) or not _model_failed(recorder):
            raise
        if steps.failure is not None:
            raise steps.failure from error
        raise attempts.failure(error, "the model") from error
    finally:
        current_attempts.reset(attempts_token)
        _watch.reset(watch_token)
        current_traces.reset(trace_token)
        steps.flush(final=True)
    if steps.failure is not None:
        raise steps.failure
    return _outcome(solving, recorder, traces, reached.limit_error)


def _outcome(
    solving: Solving, recorder: Recorder, traces: Traces, limit: LimitExceededError | None
) -> Outcome:
    if traces.ended is not None:
        return Outcome("gave_up" if traces.ended.impossible else "submitted", traces.ended)
    if limit is not None:
        reason = "token_limit" if limit.type == "token" else "step_limit"
        detail = {"limit": reason, "tokens": tokens_spent(recorder)}
        recorder.event("limit", canonical_json(detail))
        return Outcome(reason)
    return _own_end(solving)


def _state(one: Solver, state: object) -> TaskState:
    if not isinstance(state, TaskState):
        name = getattr(one, "__qualname__", "solver").partition(".")[0]
        raise TaskError(f"the solver {name} returned {type(state).__name__}, not a TaskState")
    return state


def _is_being_cancelled() -> bool:
    """Whether somebody has asked this task to end; anybody can raise the exception that says so."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _model_failed(recorder: Recorder) -> bool:
    """Whether the last thing that happened was a generation that came to nothing."""
    last = recorder.steps[-1] if recorder.steps else None
    return isinstance(last, Event) and last.event == "error"


def _own_end(solving: Solving) -> Outcome:
    """The loop came to an end of its own, which is what it answers."""
    output = solving.state.output
    if output.choices and output.stop_reason == "content_filter":
        return Outcome("refused")
    if output.choices and output.stop_reason == "model_length":
        return Outcome("context_limit")
    return Outcome("submitted", Ending(impossible=False, answer=output.completion))
