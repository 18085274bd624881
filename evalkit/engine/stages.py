"""How does a trial go from stage to stage?

Each stage is set up, worked on and graded in the one sandbox of the trial. `submit`, or a stage's own time limit, ends
a stage; a missed `min_reward`, `report_impossible` and the trial's own limits end the trial. A grader that gives no
verdict leaves the whole trial unscored, whichever stage it judged. A task without steps is a single stage.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inspect_ai.model import ChatMessage, Model
from inspect_ai.tool import Tool

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.approvals.asking import Asker
from evalkit.engine.approvals.guard import guarded
from evalkit.engine.attacks import attacks
from evalkit.engine.attempts import model_config
from evalkit.engine.checkpoints import current_checkpoints
from evalkit.engine.faults.own_tools import through
from evalkit.engine.faults.site import Site
from evalkit.engine.keeping import ask_naive, keep_taken
from evalkit.engine.ledger import Ledger
from evalkit.engine.loop import LoopInput, Outcome
from evalkit.engine.loops import run_loop
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.recorder import Recorder
from evalkit.engine.scripted_model import current_script
from evalkit.engine.tools import agent_tools
from evalkit.errors import ModelError, TaskError
from evalkit.grading.delivering import collect, take_deliverables
from evalkit.grading.grader import Grading, grade, tests_digest
from evalkit.grading.in_place import as_the_agent_left_it
from evalkit.grading.preparing import clear_traces, prepare_stage
from evalkit.grading.total import falls_short, total
from evalkit.grading.unchanged import before_the_agent, stayed_as_it_was, with_unchanged
from evalkit.grading.verdict import Verdict
from evalkit.models.personas.persona import Move, Persona, Script, Situation
from evalkit.models.reply import Reply, Turn
from evalkit.models.scripted import find_persona
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.solution import load_beside, load_solution
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task
from evalkit.trajectory.canonical import canonical_json

_SPENT = frozenset({"step_limit", "token_limit", "cost_limit"})


@dataclass(slots=True)
class TrialParts:
    """What all stages of one trial share."""

    planned: PlannedTrial
    sandbox: Sandbox
    model: Model
    recorder: Recorder
    ledger: Ledger
    grading: Grading
    asker: Asker | None = None
    """Who is asked where approvals say so."""
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    """What was said in the stages before, where the agent remembers it."""
    at_start: str | None = None
    """Of a stage with a file that must stay as it is: what it is before the agent."""

    @property
    def persona(self) -> Persona | None:
        """The scripted agent; None for a model."""
        model = self.planned.agent.model
        return find_persona(model.name) if model.route == "scripted" else None

    @property
    def time_left_s(self) -> float | None:
        """What is left of the whole trial's time; None where it has no bound."""
        limit = self.planned.limits.time_s
        if limit is None:
            return None
        own = (self.ledger.agent_s or 0.0) - (self.ledger.spending.retry_s or 0.0)
        return max(limit - own, 0.0)


async def run_stages(given: TrialParts) -> None:
    """Go through the stages, as far as they are reached, and put the trial's verdict into its ledger.

    States of its work that were copied meanwhile are graded after that, and recorded whatever has happened.
    """
    checkpoints = given.ledger.checkpoints
    try:
        await _go_through(given)
        if checkpoints is not None and given.ledger.verdict is not None:
            with given.ledger.clock("grade_s"):
                checkpoints.end(given.ledger.delivered[-1], given.ledger.verdict)
                await checkpoints.grade()
    finally:
        current_checkpoints.set(None)
        if checkpoints is not None:
            checkpoints.record(given.recorder)


async def _go_through(given: TrialParts) -> None:
    task, ledger = given.planned.task, given.ledger
    verdicts: list[Verdict] = []
    ended: str | None = None
    for number, stage in enumerate(task.stages):
        try:
            with ledger.clock("setup_s"):
                await _set_up(given, stage)
                if ledger.evidence is not None:
                    await ledger.evidence.begin()
                if ledger.meter is not None:
                    await ledger.meter.begin()
                if ledger.checkpoints is not None:
                    await ledger.checkpoints.begin()
        except TaskError as error:
            if not verdicts:
                raise
            # What stands in the way now is what the agent left: a suite's proof has shown that the set-up works.
            given.recorder.event("error", canonical_json({"stage": stage.name, "message": error.message}))
            break
        ledger.outcome = None
        with ledger.clock("agent_s"):
            ledger.outcome = await _work(given, stage)
        ledger.put_aside()
        last = number == len(task.stages) - 1
        with ledger.clock("grade_s"):
            judged = await _judge(given, stage, goes_on=not last)
        verdicts.append(judged.verdict)
        ended = None if last else _ended(given, stage, judged.verdict)
        if task.is_staged:
            _checkpoint(given, stage, judged, ended)
        if ended is not None:
            break
    ledger.verdict = total(task, verdicts, fell_short=ended == "min_reward")


async def _set_up(given: TrialParts, stage: Stage) -> None:
    persona = given.persona
    played = persona is not None and persona.needs_solution
    await prepare_stage(given.planned.task, stage, given.sandbox, with_solution=played)
    given.at_start = await before_the_agent(given.planned.task, stage, given.sandbox)


async def _work(given: TrialParts, stage: Stage) -> Outcome:
    """The agent's part of a stage."""
    task, agent, recorder = given.planned.task, given.planned.agent, given.recorder
    if task.settings.conversation == "fresh":
        given.messages = []
    if given.persona is not None:
        level = agent.thinking.level
        current_script.set(_script(given.persona, task, stage, len(given.messages), level))
    seconds = _seconds(given, stage)
    clock = AgentClock(seconds)
    if given.ledger.meter is not None:
        given.ledger.meter.attribution.clock = clock
    if given.ledger.injector is not None:
        given.ledger.injector.clock = clock
    if given.ledger.checkpoints is not None:
        given.ledger.checkpoints.clock = clock
        current_checkpoints.set(given.ledger.checkpoints)
    tools = agent_tools(
        given.sandbox,
        agent.tool_settings,
        asks_confidence=bool(task.settings.confidence),
        user=stage.user if task.is_staged else None,
        injector=given.ledger.injector,
    )
    loop = LoopInput(
        instruction=stage.instruction,
        model=given.model,
        tools=tuple(tools),
        sandbox=given.sandbox,
        recorder=recorder,
        limits=given.planned.limits,
        config=model_config(agent),
        clock=clock,
        spending=given.ledger.spending,
        messages=given.messages,
        strike=_strike(given),
    )
    try:
        with clock.running(), guarded(given.planned, asker=given.asker, base=task.workdir, clock=clock):
            return await run_loop(agent.own, loop)
    finally:
        if agent.model.route != "scripted":
            given.ledger.spending.excuse(clock)
    if not recorder.thinks:
        raise ModelError(f"{agent.model} gave no answer within {seconds:g} s")
    recorder.event("limit", canonical_json({"limit": "time_limit", "seconds": seconds}))
    return Outcome("time_limit")


async def _rest(given: TrialParts) -> None:
    """A grader that works where the agent did is not struck."""
    if (injector := given.ledger.injector) is not None:
        async with as_the_agent_left_it(given.sandbox):
            await injector.rest(Site(given.sandbox, given.planned.agent.tool_settings))


def _strike(given: TrialParts) -> Callable[[Sequence[Tool]], Sequence[Tool]] | None:
    injector = given.ledger.injector
    if injector is None:
        return None
    return functools.partial(through, injector, Site(given.sandbox, given.planned.agent.tool_settings))


def _seconds(given: TrialParts, stage: Stage) -> float | None:
    """A stage's own time, as far as the trial's lasts. Of a task without steps they are the same."""
    if not given.planned.task.is_staged:
        return given.planned.limits.time_s
    bounds = [bound for bound in (stage.agent_timeout_s, given.time_left_s) if bound is not None]
    return min(bounds) if bounds else None


@dataclass(frozen=True, slots=True)
class _Later:
    """A script that hears only what was said since its stage began."""

    script: Script
    begin: int

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        return self.script.reply(conversation[self.begin :])


def _script(persona: Persona, task: Task, stage: Stage, begin: int, thinking: str) -> Script:
    moves: tuple[Move, ...] = ()
    if persona.if_hard is not None and task.settings.is_hard:
        moves = load_beside(stage, persona.if_hard)
    elif persona.needs_solution:
        moves = load_solution(stage, persona.solutions)
    if persona.attack is not None:
        moves = attacks(task, persona.attack)
    if persona.beside is not None:
        moves += load_beside(stage, persona.beside) or persona.without
    script = persona.make(moves, Situation(thinking, task.settings.needed_thinking))
    return _Later(script, begin) if begin else script


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    halted: bool
    """Whether everything that the agent had started was killed."""


async def _judge(given: TrialParts, stage: Stage, *, goes_on: bool) -> _Judged:
    task, sandbox, recorder = given.planned.task, given.sandbox, given.recorder
    mode = stage.verifier.mode
    given.ledger.grader_digest = tests_digest(task)
    if (meter := given.ledger.meter) is not None:
        await meter.note_running()
    if mode != "sealed" and not goes_on:
        await _rest(given)
    if (
        meter is not None and stage.verifier.collect
    ):  # which change files themselves, and need what is running
        await meter.end()
    for command, how in (await collect(task, stage, sandbox)).items():
        recorder.event("error", canonical_json({"not_collected": command, "reason": how}))
    halted = mode == "snapshot" or (mode == "sealed" and not goes_on)
    if halted:
        await sandbox.halt()
    if meter is not None:
        await meter.end()
    taken = await take_deliverables(
        task, stage, sandbox, given.grading.store, halt_if_moving=mode == "sealed" and not halted
    )
    for path, reason in taken.refused.items():
        recorder.event("error", canonical_json({"not_delivered": path, "reason": reason}))
    if (evidence := given.ledger.evidence) is not None:
        await evidence.look(meter, taken.deliverables, given.grading.store)
    ending = given.ledger.outcome.ending if given.ledger.outcome else None
    answer = ending.answer if ending else None
    keep_taken(stage, taken, answer, given.ledger, given.grading.store)
    stayed = await stayed_as_it_was(stage, sandbox, given.at_start)
    verdict = await grade(
        task,
        stage,
        sandbox,
        taken.deliverables,
        given.grading,
        answer=answer,
        goes_on=goes_on,
    )
    for finding in verdict.evidence:
        recorder.event("tampering", finding.to_json())
    if not goes_on and not given.planned.only_verdict:
        given.ledger.naive_passed = await ask_naive(task, stage, sandbox, recorder, rest=lambda: _rest(given))
    if goes_on and mode != "sealed":
        await clear_traces(task, sandbox)
    return _Judged(
        verdict if stayed is None else with_unchanged(verdict, stayed=stayed), halted or taken.halted
    )


def _ended(given: TrialParts, stage: Stage, verdict: Verdict) -> str | None:
    """What keeps the next stage from being begun; None where nothing does."""
    outcome = given.ledger.outcome
    if outcome is not None and outcome.ending is not None and outcome.ending.impossible:
        return "report_impossible"
    if outcome is not None and outcome.stop_reason in _SPENT:
        return outcome.stop_reason
    if given.time_left_s == 0.0:
        return "time_limit"
    return "min_reward" if falls_short(stage, verdict) else None


def _checkpoint(given: TrialParts, stage: Stage, judged: _Judged, ended: str | None) -> None:
    outcome = given.ledger.outcome
    detail = {
        "stage": stage.name,
        "reward": judged.verdict.reward,
        "passed": judged.verdict.passed,
        "grader_mode": stage.verifier.mode,
        "stop_reason": outcome.stop_reason if outcome else None,
        "processes_killed": judged.halted,
        "trial_ended_by": ended,
    }
    given.recorder.event("checkpoint", canonical_json(detail))
