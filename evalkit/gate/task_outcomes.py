"""How often did an agent pass each task, on both sides?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from evalkit.errors import ConfigError
from evalkit.gate.policy import GatePolicy, RequiredTask
from evalkit.gate.side import Side
from evalkit.gate.verdict import Outcome, RequiredVerdict, TaskOutcome
from evalkit.scoring.scored_trials import Unit
from evalkit.tomlfile import nearest


@dataclass(slots=True)
class _Tally:
    passed: int = 0
    scored: int = 0
    unscored: int = 0


def task_outcomes(
    candidate: tuple[Side, str],
    baseline: tuple[Side, str],
    units: Collection[Unit],
    known_failing: Collection[Unit],
) -> tuple[TaskOutcome, ...]:
    """Of each of these units, passed, scored and unscored trials of the agent on each side, sorted."""
    ours, theirs = _tallies(*candidate), _tallies(*baseline)
    nothing = _Tally()
    return tuple(
        TaskOutcome(
            suite=unit[0],
            task_id=unit[1],
            variant=unit[2],
            baseline_passed=theirs.get(unit, nothing).passed,
            baseline_scored=theirs.get(unit, nothing).scored,
            baseline_unscored=theirs.get(unit, nothing).unscored,
            candidate_passed=ours.get(unit, nothing).passed,
            candidate_scored=ours.get(unit, nothing).scored,
            candidate_unscored=ours.get(unit, nothing).unscored,
            known_failing=unit in known_failing,
        )
        for unit in sorted(units)
    )


def named_units(name: str, units: Collection[Unit], where: str | None) -> list[Unit]:
    """The units of the task that is named, `suite/task` or by its id alone. Raises ConfigError where there is none, or
    where several suites have one."""
    found = sorted(unit for unit in units if name in (f"{unit[0]}/{unit[1]}", unit[1]))
    if len({unit[0] for unit in found}) > 1:
        suites = ", ".join(sorted({unit[0] for unit in found}))
        raise ConfigError(
            f"{name!r} is a task of several suites: {suites}", where=where, hint="Write SUITE/TASK."
        )
    if not found:
        known = sorted({f"{unit[0]}/{unit[1]}" for unit in units})
        raise ConfigError(f"the candidate has no task {name!r}", where=where, hint=nearest(name, known))
    return found


def required(outcomes: Collection[TaskOutcome], policy: GatePolicy) -> Iterator[RequiredVerdict]:
    """The tasks that must pass, clean: regressed where too few of the candidate's trials did, and not comparable where
    unscored ones would decide."""
    for rule in policy.require:
        own = _of(rule, outcomes)
        passed, scored, unscored = own.candidate_passed, own.candidate_scored, own.candidate_unscored
        yield RequiredVerdict(
            task=f"{own.suite}/{own.task_id}",
            asked=f"{rule.passed}/{rule.of}",
            passed=passed,
            scored=scored,
            unscored=unscored,
            outcome=_required(rule, passed, scored, unscored),
        )


def _required(rule: RequiredTask, passed: int, scored: int, unscored: int) -> Outcome:
    """What is unscored may have passed or not: it decides only where that makes no difference."""
    trials = scored + unscored
    if trials and Fraction(passed, trials) >= rule.share:
        return "pass"
    if trials and Fraction(passed + unscored, trials) < rule.share:
        return "regressed"
    return "not comparable"


def _of(rule: RequiredTask, outcomes: Collection[TaskOutcome]) -> TaskOutcome:
    units = {(own.suite, own.task_id, own.variant): own for own in outcomes}
    clean = [unit for unit in named_units(rule.task, units, rule.where) if unit[2] == "clean"]
    if not clean:
        raise ConfigError(
            f"{rule.task!r} is never tried without a fault", where=rule.where, hint="Require another task."
        )
    return units[clean[0]]


def _tallies(side: Side, agent: str) -> dict[Unit, _Tally]:
    found: dict[Unit, _Tally] = {}
    for trial in side.scored.trials:
        if trial.agent == agent:
            own = found.setdefault(trial.unit, _Tally())
            own.passed += trial.status == "passed"
            own.scored += trial.status != "unscored"
            own.unscored += trial.status == "unscored"
    return found
