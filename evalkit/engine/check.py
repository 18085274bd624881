"""How is a suite proven before anybody is judged by it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalkit.engine.finding import ORACLE_TIMES, Finding, judge
from evalkit.engine.plan import Asked, Planned, make_plan
from evalkit.engine.prepare import Prepared
from evalkit.engine.progress import Progress
from evalkit.engine.start import start


def check_plan(prepared: Prepared, task: str | None) -> tuple[Planned, ...]:
    """The trials that prove a suite: the oracle twice and nop once on every task."""
    oracle = [agent for agent in prepared.agents if agent.model.name == "oracle"]
    nop = [agent for agent in prepared.agents if agent.model.name == "nop"]
    asked = Asked(task=task, sandbox=prepared.sandbox, arms="clean")
    twice = make_plan(prepared.suites, oracle, replace(asked, epochs=ORACLE_TIMES))
    return twice + make_plan(prepared.suites, nop, replace(asked, epochs=1))


def check_suite(prepared: Prepared, task: str | None, out: Path, progress: Progress) -> tuple[Finding, ...]:
    """Run the proof into `out`, and say for every task what it showed.

    Raises KeyboardInterrupt where it was interrupted: what is missing then shows nothing.
    """
    plan = check_plan(prepared, task)
    result = start(replace(prepared, plan=plan, out=out), progress)
    if result.interrupted:
        raise KeyboardInterrupt
    return judge([(trial.suite.name, trial.task.id) for trial in plan], result.trials)
