"""How is a prepared run started?"""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import uuid

from evalkit import __version__
from evalkit.engine.needs import check_needs
from evalkit.engine.prepare import Prepared
from evalkit.engine.recorder import now
from evalkit.engine.run import RunResult, host_class, run_plan
from evalkit.engine.trial import Progress
from evalkit.trajectory.manifest import AgentEntry, PlannedRow, RunManifest, SuiteEntry
from evalkit.trajectory.writer import RunWriter


def start(prepared: Prepared, progress: Progress) -> RunResult:
    """Check what the tasks need, make the run's folder, and run every trial.

    Raises UsageError where a program is missing or the folder exists, SandboxError where no sandbox can
    be started: both before the first trial.
    """
    run_id = f"{prepared.out.name}-{uuid.uuid4().hex[:8]}"
    tasks = {trial.task.path: trial.task for trial in prepared.plan}
    check_needs(tuple(tasks.values()), prepared.sandbox, prepared.readonly, run_id=run_id)
    writer = RunWriter.create(prepared.out, _manifest(prepared, run_id))
    return run_plan(
        prepared.plan,
        writer,
        run_id=run_id,
        sandbox_kind=prepared.sandbox,
        readonly=prepared.readonly,
        max_trials=prepared.max_trials,
        progress=progress,
    )


def _manifest(prepared: Prepared, run_id: str) -> RunManifest:
    return RunManifest(
        run_id=run_id,
        created_at=now(),
        suites=tuple(
            SuiteEntry(name=suite.name, digest=suite.digest, version=suite.version, source=str(suite.path))
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
        settings={"sandbox": prepared.sandbox, "max_trials": prepared.max_trials},
        versions=_versions(),
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


def _versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("inspect-ai", "litellm", "pyarrow")}
    return {"evalkit": __version__, "python": platform.python_version(), **packages}


def _git_commit() -> str | None:
    """The commit of the repository that the run is started from; None outside one, or without git."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
