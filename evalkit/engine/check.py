"""How is a suite proven before anybody is judged by it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.engine.effects.proof import Left, learned_from, left_by
from evalkit.engine.finding import ORACLE_TIMES, Finding, judge
from evalkit.engine.plan import Asked, Planned, make_plan
from evalkit.engine.prepare import Prepared
from evalkit.engine.progress import Progress
from evalkit.engine.running import RunResult
from evalkit.engine.start import start
from evalkit.measures.unfired_fault import why_endless, why_unfired
from evalkit.tasks.learned import Learned
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial


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


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of proving a suite."""

    findings: tuple[Finding, ...]
    learned: Mapping[str, Learned]
    """By task, where it was to be learned."""


def check_suite(
    prepared: Prepared, task: str | None, out: Path, progress: Progress, *, learn: bool = False
) -> Proof:
    """Run the proof into `out`, and say for every task what it showed. With `learn`, what it teaches counts already.

    Raises KeyboardInterrupt where it was interrupted: what is missing then shows nothing.
    """
    plan = check_plan(prepared, task)
    result = start(replace(prepared, plan=plan, out=out), progress)
    if result.interrupted:
        raise KeyboardInterrupt
    planned = [(trial.suite.name, trial.task.id, trial.variant) for trial in plan]
    unfired, endless = _troubles(result)
    left = {trial.trial_id: left_by(trial, effects) for trial, _, effects in load(result.path).iter_whole()}
    learned = _learned(result.trials, left) if learn else {}
    for trial in result.trials:
        if (known := learned.get(trial.task_id)) is not None and trial.trial_id in left:
            left[trial.trial_id] = left[trial.trial_id].without(known.noise)
    return Proof(judge(planned, result.trials, unfired, endless, left), learned)


def _learned(trials: Sequence[Trial], left: Mapping[str, Left]) -> dict[str, Learned]:
    clean = [trial for trial in trials if trial.variant == "clean"]
    found: dict[str, Learned] = {}
    for task in dict.fromkeys(trial.task_id for trial in clean):
        known = learned_from([trial for trial in clean if trial.task_id == task], left)
        if known is not None:
            found[task] = known
    return found


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
