"""How is a suite proven before anybody is judged by it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.engine.check_plan import Exploits, check_plan, chosen_exploits
from evalkit.engine.effects.proof import Left, learned_from, left_by
from evalkit.engine.finding import Claim, Finding, judge
from evalkit.engine.helper_copy import remarks_on
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.prepare import Prepared
from evalkit.engine.progress import Progress
from evalkit.engine.running import RunResult
from evalkit.engine.start import start
from evalkit.measures.unfired_fault import why_endless, why_unfired
from evalkit.scoring.facts import Facts
from evalkit.scoring.trial import Trial as Judged
from evalkit.tasks.learned import Learned
from evalkit.trajectory.finding import Finding as Evidence
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of proving a suite."""

    findings: tuple[Finding, ...]
    learned: Mapping[str, Learned]
    """By task, where it was to be learned."""


def check_suite(
    prepared: Prepared,
    task: str | None,
    out: Path,
    progress: Progress,
    *,
    learn: bool = False,
    exploits: Exploits = "none",
) -> Proof:
    """Run the proof into `out`, and say for every task what it showed. With `learn`, what it teaches counts already.

    Raises KeyboardInterrupt where it was interrupted: what is missing then shows nothing.
    """
    plan = check_plan(prepared, task, exploits)
    agents = tuple({trial.agent.id: trial.agent for trial in plan}.values())
    result = start(replace(prepared, plan=plan, out=out, agents=agents), progress)
    if result.interrupted:
        raise KeyboardInterrupt
    planned = [(trial.suite.name, trial.task.id, trial.variant) for trial in plan]
    unfired, endless = _troubles(result)
    left, evidence = _seen(result.path)
    learned = _learned(result.trials, left) if learn else {}
    for trial in result.trials:
        if (known := learned.get(trial.task_id)) is not None and trial.trial_id in left:
            left[trial.trial_id] = left[trial.trial_id].without(known.noise)
    claims = {
        (one.suite.name, one.task.id): _claim(one, exploits) for one in plan if isinstance(one, PlannedTrial)
    }
    found = judge(planned, result.trials, unfired, endless, left, claims=claims, evidence=evidence)
    return Proof(found, learned)


def _seen(path: Path) -> tuple[dict[str, Left], dict[str, tuple[Evidence, ...]]]:
    """By trial, what it left behind and what of it looks like tampering."""
    run = load(path)
    facts = Facts(run.manifest)
    left: dict[str, Left] = {}
    evidence: dict[str, tuple[Evidence, ...]] = {}
    for row, steps, effects in run.iter_whole():
        left[row.trial_id] = left_by(row, effects)
        judged = Judged(row=row, steps=steps, effects=effects, task=facts.of(row.suite, row.task_id))
        evidence[row.trial_id] = judged.findings
    return left, evidence


def _claim(planned: PlannedTrial, exploits: Exploits) -> Claim:
    task = planned.task
    return Claim(
        mode=task.grading_mode,
        exploits=chosen_exploits(task, exploits),
        naive=bool(task.settings.grading and task.settings.grading.naive),
        remarks=remarks_on(planned.suite, task),
    )


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
