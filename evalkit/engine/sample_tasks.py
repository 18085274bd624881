"""How do trials of Inspect's own tasks go into the one Inspect eval of a run?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from evalkit.engine.attempts import model_config
from evalkit.engine.inspect_hooks import register
from evalkit.engine.inspect_sandbox import FOREIGN, InspectSandbox, SandboxRequest
from evalkit.engine.inspect_suite import InspectTask, Place
from evalkit.engine.plan import PlannedSample
from evalkit.engine.registry import provider_name
from evalkit.engine.running import running
from evalkit.engine.sample_trial import run_sample
from evalkit.engine.solving import Solving
from evalkit.engine.trial import RunContext
from evalkit.errors import EvalkitError
from evalkit.sandbox import open_sandbox

Groups = Mapping[tuple[str, str], Sequence[PlannedSample]]


def sample_tasks(
    plan: Sequence[PlannedSample], models: Mapping[str, Model], context: RunContext
) -> list[inspect_ai.Task]:
    """One Inspect task for each suite and agent: the user's own, with our solver around it.

    Samples keep their ids and epochs, which a task may read; a sample and epoch that is not planned is passed over.
    Scorers run in our solver, so that their errors have an origin, and limits too, so that they end the agent alone.
    """
    return [_inspect_task(key, trials, models[key[1]], context) for key, trials in grouped(plan).items()]


def grouped(plan: Sequence[PlannedSample]) -> Groups:
    """Trials by suite and agent."""
    groups: defaultdict[tuple[str, str], list[PlannedSample]] = defaultdict(list)
    for planned in plan:
        groups[planned.suite.name, planned.agent.id].append(planned)
    return groups


def _inspect_task(
    key: tuple[str, str], trials: Sequence[PlannedSample], model: Model, context: RunContext
) -> inspect_ai.Task:
    own = trials[0].suite.task
    tasks = {planned.task.id: planned.task for planned in trials}
    return inspect_ai.Task(
        name=f"evalkit-{key[0].replace('/', '-')}",
        dataset=MemoryDataset([_sample(planned, context) for planned in _firsts(trials, tasks)]),
        solver=_sample_solver(suite=key[0], agent=key[1]),
        model=model,
        config=own.config.merge(model_config(trials[0].agent)),
        model_roles=own.model_roles,
        approval=own.approval,
        epochs=max(planned.epoch for planned in trials),
        metadata=own.metadata,
    )


def _firsts(trials: Sequence[PlannedSample], tasks: Mapping[str, InspectTask]) -> Iterator[PlannedSample]:
    """One trial of each task."""
    left = set(tasks)
    for planned in trials:
        if planned.task.id in left:
            left.remove(planned.task.id)
            yield planned


def place_of_trial(planned: PlannedSample, context: RunContext) -> Place | None:
    """The sample's own place; our own loop has tools, which need one in any case."""
    if planned.task.place is None and planned.agent.loop == "react":
        return Place("docker" if context.sandbox == "docker" else "local", FOREIGN)
    return planned.task.place


def _sample(planned: PlannedSample, context: RunContext) -> Sample:
    """What Inspect gets: files and set-up come in with our own clock."""
    place = place_of_trial(planned, context)
    spec = None
    if place is not None:
        request = SandboxRequest(
            environment=place.environment,
            run_id=context.run_id,
            trial_id=planned.trial_id(context.run_id),
            lazy=True,
        )
        spec = SandboxEnvironmentSpec(provider_name(place.kind), request)
    return planned.task.sample.model_copy(update={"files": None, "setup": None, "sandbox": spec})


@solver
def _sample_solver(suite: str, agent: str) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        register()
        run = running.get()
        planned = run.samples.get((suite, agent, state.epoch, str(state.sample_id)))
        if run.ends or planned is None:
            return state
        place = place_of_trial(planned, run.context)
        box = None
        if place is not None:
            box = sandbox().as_type(InspectSandbox)
            box.inner = open_sandbox(
                place.kind,
                replace(place.environment, readonly=run.context.readonly, hidden=run.context.hidden),
                run_id=run.context.run_id,
                trial_id=planned.trial_id(run.context.run_id),
                runtime=run.context.sandbox_runtime if place.kind == "docker" else None,
            )
        try:
            with run.stopping.trial():
                solving = Solving(state, generate, box)
                trial = await run_sample(planned, solving, get_model(), run.context, place=place)
                run.result.trials.append(trial)
                return solving.state
        except (EvalkitError, OSError) as error:
            run.result.broken = error
        return state

    return solve
