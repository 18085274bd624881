"""How is a suite proven before anybody is judged by it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalkit.engine.finding import ORACLE_TIMES, Finding, judge
from evalkit.engine.plan import Asked, Planned, make_plan
from evalkit.engine.prepare import Prepared
from evalkit.engine.progress import Progress
from evalkit.engine.running import RunResult
from evalkit.engine.start import start
from evalkit.measures.unfired_fault import why_endless, why_unfired
from evalkit.trajectory.reader import load


def check_plan(prepared: Prepared, task: str | None) -> tuple[Planned, ...]:
    """The trials that prove a suite: the oracle twice and nop once on every task, and on every faulted variant the
    oracle and naive once each.
    """
    oracle = [agent for agent in prepared.agents if agent.model.name == "oracle"]
    nop = [agent for agent in prepared.agents if agent.model.name == "nop"]
    asked = Asked(task=task, sandbox=prepared.sandbox, faults=prepared.faults, arms="clean")
    twice = make_plan(prepared.suites, oracle, replace(asked, epochs=ORACLE_TIMES))
    once = make_plan(prepared.suites, nop, replace(asked, epochs=1))
    players = [agent for agent in prepared.agents if agent.model.name in {"oracle", "naive"}]
    return twice + once + make_plan(prepared.suites, players, replace(asked, epochs=1, arms="faulted"))


def check_suite(prepared: Prepared, task: str | None, out: Path, progress: Progress) -> tuple[Finding, ...]:
    """Run the proof into `out`, and say for every task what it showed.

    Raises KeyboardInterrupt where it was interrupted: what is missing then shows nothing.
    """
    plan = check_plan(prepared, task)
    result = start(replace(prepared, plan=plan, out=out), progress)
    if result.interrupted:
        raise KeyboardInterrupt
    planned = [(trial.suite.name, trial.task.id, trial.variant) for trial in plan]
    unfired, endless = _troubles(result)
    return judge(planned, result.trials, unfired, endless)


def _troubles(result: RunResult) -> tuple[dict[str, str], dict[str, str]]:
    """Why a fault did not fire, and why its end could not be told, by trial."""
    unfired: dict[str, str] = {}
    endless: dict[str, str] = {}
    faulted = [trial for trial in result.trials if trial.faults_planned]
    if faulted:
        run = load(result.path)
        for trial in faulted:
            _, steps = run.trial(trial.trial_id)
            if not trial.faults_fired:
                unfired[trial.trial_id] = why_unfired(steps)
            if (why := why_endless(steps)) is not None:
                endless[trial.trial_id] = why
    return unfired, endless
