"""How is a run started, and how is it gone on with?"""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from evalkit import __version__
from evalkit.engine.agent import Agent, check_keys
from evalkit.engine.approvals.asking import Asker
from evalkit.engine.capacity import make_capacity, refuse_oversized
from evalkit.engine.checkpoint_plan import CheckpointPlan
from evalkit.engine.cost_limits import CostLimits, spent_usd
from evalkit.engine.faults.entry import fault_entries
from evalkit.engine.inspect_log import redact_logs
from evalkit.engine.needs import check_needs
from evalkit.engine.own_tools import check_tools
from evalkit.engine.plan import Planned, PlannedSample, PlannedTrial, tasks_of
from evalkit.engine.prepare import Prepared
from evalkit.engine.progress import Progress
from evalkit.engine.recorder import now
from evalkit.engine.resume import remaining
from evalkit.engine.run import RunResult, host_class, open_model, run_plan
from evalkit.sandbox import SandboxKind, check_sandbox
from evalkit.tasks.digest import part_digests
from evalkit.trajectory.manifest import AgentEntry, Json, PlannedRow, RunManifest, SuiteEntry
from evalkit.trajectory.reader import load
from evalkit.trajectory.spent import read_spent
from evalkit.trajectory.writer import RunWriter


def start(prepared: Prepared, progress: Progress, asker: Asker | None = None) -> RunResult:
    """Check what the tasks need, make the run's folder, and run every trial.

    Raises UsageError where something is missing, no sandbox can be started, or the folder exists: all
    before the first trial.
    """
    run_id = f"{prepared.out.name}-{uuid.uuid4().hex[:8]}"
    check_keys(prepared.agents)
    _check(
        prepared.plan, prepared.sandbox, prepared.readonly, run_id=run_id, runtime=prepared.sandbox_runtime
    )
    models = {agent.id: open_model(agent) for agent in prepared.agents}
    _check_tools(prepared.agents)
    writer = RunWriter.create(prepared.out, _manifest(prepared, run_id))
    return run_plan(
        prepared.plan,
        writer,
        models,
        run_id=run_id,
        sandbox_kind=prepared.sandbox,
        sandbox_runtime=prepared.sandbox_runtime,
        readonly=prepared.readonly,
        capacity=make_capacity(prepared.max_trials, prepared.sandbox),
        costs=CostLimits(prepared.out, prepared.cost_limit_usd, prepared.trial_cost_limit_usd),
        progress=progress,
        asker=asker,
        effects=prepared.effects,
        checkpoints=prepared.checkpoints,
    )


def resume(path: Path, progress: Progress, asker: Asker | None = None) -> RunResult:
    """Go on with a run: what is missing is run, what was unscored is tried again.

    Trials that were in flight when the run died are kept as `unscored` with the steps they had. Raises
    UsageError while another process writes the run, NotComparable where suites or agents have changed.
    """
    writer = RunWriter.open(path)
    try:
        manifest = writer.manifest
        plan = remaining(load(path))
        kind = str(manifest.settings.get("sandbox", "local"))
        runtime = cast("str | None", manifest.settings.get("sandbox_runtime"))
        stored = cast("list[str]", manifest.settings.get("readonly", []))
        readonly = tuple(Path(folder) for folder in stored)
        check_keys([trial.agent for trial in plan])
        if plan:
            refuse_oversized(tasks_of(plan), kind)
            _check(plan, kind, readonly, run_id=manifest.run_id, runtime=runtime)
        models = {trial.agent.id: open_model(trial.agent) for trial in plan}
        _check_tools([trial.agent for trial in plan])
    except BaseException:
        writer.close()
        raise
    if not plan:
        redact_logs(writer.path / "artifacts" / "inspect")
        writer.finish()
        return RunResult(path=path)
    return run_plan(
        plan,
        writer,
        models,
        run_id=manifest.run_id,
        sandbox_kind=kind,
        sandbox_runtime=runtime,
        readonly=readonly,
        capacity=make_capacity(cast("int | None", manifest.settings.get("max_trials")), kind),
        costs=_costs(path, manifest),
        progress=progress,
        asker=asker,
        effects=bool(manifest.settings.get("effects", False)),
        checkpoints=CheckpointPlan.from_settings(manifest.settings),
    )


def _costs(path: Path, manifest: RunManifest) -> CostLimits:
    """The limits that the run began with, less what it has cost in every attempt so far."""
    limit, of_trial = (
        cast("float | None", manifest.settings.get(name))
        for name in ("cost_limit_usd", "trial_cost_limit_usd")
    )
    if limit is None:
        return CostLimits(path, None, of_trial)
    known = spent_usd(load(path, every_attempt=True).iter_trials())
    return CostLimits(path, limit, of_trial, spent_usd=max(known, read_spent(path)))


def _check(
    plan: Sequence[Planned], kind: str, readonly: tuple[Path, ...], *, run_id: str, runtime: str | None
) -> None:
    """That each kind of sandbox that the plan needs can be had, with what the tasks need in it."""
    kinds = dict.fromkeys(_kinds(plan, kind))
    for needed in kinds:
        tasks = tasks_of(plan) if needed == kind else ()
        check_needs(tasks, needed, readonly, run_id=run_id, runtime=runtime if needed == "docker" else None)


def _check_tools(agents: Iterable[Agent]) -> None:
    """Of one run, every agent with tools of the user's has the same."""
    for own in dict.fromkeys(agent.own for agent in agents):
        check_tools(own)


def _kinds(plan: Sequence[Planned], kind: str) -> Iterator[str]:
    for planned in plan:
        if not isinstance(planned, PlannedSample):
            yield kind
        elif planned.task.place is not None:
            yield planned.task.place.kind
        elif planned.agent.loop == "react":
            yield kind


def _manifest(prepared: Prepared, run_id: str) -> RunManifest:
    return RunManifest(
        run_id=run_id,
        created_at=now(),
        suites=tuple(
            SuiteEntry(name=suite.name, digest=suite.digest, version=suite.version, source=suite.source)
            for suite in prepared.suites
        ),
        agents=tuple(
            AgentEntry(id=agent.id, digest=agent.digest, settings=agent.parts) for agent in prepared.agents
        ),
        epochs=max(trial.epoch for trial in prepared.plan),
        limits={
            f"{trial.suite.name}/{trial.task.id}": {
                "steps": trial.limits.steps,
                "tokens": trial.limits.tokens,
                "time_s": trial.limits.time_s,
            }
            for trial in prepared.plan
        },
        tasks=_tasks(prepared.plan),
        faults=fault_entries(prepared.plan),
        policy=_policy(prepared.agents),
        settings={
            "sandbox": prepared.sandbox,
            "sandbox_runtime": prepared.sandbox_runtime,
            "max_trials": prepared.max_trials,
            "readonly": [str(folder) for folder in prepared.readonly],
            "cost_limit_usd": prepared.cost_limit_usd,
            "trial_cost_limit_usd": prepared.trial_cost_limit_usd,
            "task_arguments": prepared.task_arguments,
            "sandbox_asked": prepared.sandbox_asked,
            "chosen": prepared.chosen,
            "effects": prepared.effects,
            "twins": prepared.twins,
            "checkpoints": prepared.checkpoints.parts if prepared.checkpoints else None,
        },
        versions=_versions(prepared.sandbox),
        host_class=host_class(),
        git_commit=_git_commit(),
        planned=tuple(
            PlannedRow(
                suite=trial.suite.name,
                task_id=trial.task.id,
                variant=trial.variant,
                epoch=trial.epoch,
                agent=trial.agent.id,
            )
            for trial in prepared.plan
        ),
    )


def _policy(agents: Sequence[Agent]) -> Mapping[str, Json]:
    """What holds for all agents of a run: how tools report, and which calls may run."""
    approvals = next((agent.approvals for agent in agents if agent.approvals is not None), None)
    return {
        "approvals": None if approvals is None else {"id": approvals.id, **approvals.parts},
        "tool_settings": agents[0].tool_settings.parts,
    }


def _tasks(plan: Sequence[Planned]) -> dict[str, Json]:
    """What is known of each task beside its rows, with its parts' digests, by which `regrade` says what has changed,
    and its working directory, below which its own files lie.
    """
    parts = {task.path: part_digests(task.path) for task in tasks_of(plan)}
    return {
        f"{trial.suite.name}/{trial.task.id}": {
            **_declared(trial),
            **(
                {"parts": parts[trial.task.path], "workdir": trial.task.workdir}
                if isinstance(trial, PlannedTrial)
                else {}
            ),
        }
        for trial in plan
    }


def _declared(trial: Planned) -> Mapping[str, Json]:
    """What a task declares that its scores depend on."""
    settings = trial.task.settings
    weight = trial.suite.weights.get(trial.task.id, 1.0) if isinstance(trial, PlannedTrial) else 1.0
    return {
        "answer": settings.answer,
        "milestones": list(settings.milestones),
        "resource_args": dict(settings.resource_args),
        **({"effects": _effects(trial)} if isinstance(trial, PlannedTrial) else {}),
        **({} if weight == 1 else {"weight": weight}),
    }


def _effects(trial: PlannedTrial) -> Mapping[str, Json]:
    """What scores of side effects depend on beside the rows; `scope` says by whose word changes are allowed."""
    declared = trial.task.settings.effects
    return {
        "declared": declared is not None,
        "scope": "default scope" if declared is None else "declared",
        "required": list(declared.required) if declared else [],
        "network": trial.task.agent_network,
        "passes_at_start": list(trial.task.learned.passes_at_start),
    }


def _versions(sandbox: SandboxKind) -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("inspect-ai", "litellm", "pyarrow")}
    isolating = check_sandbox(sandbox).runtime
    engine = {} if isolating is None else {sandbox: isolating}
    return {"evalkit": __version__, "python": platform.python_version(), **packages, **engine}


def _git_commit() -> str | None:
    """The commit of the repository that the run is started from; None outside one, or without git."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
