"""Which tasks did both agents try, and are they still the same?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.scoring.scored_trials import ScoredTrials, Unit


@dataclass(frozen=True, slots=True)
class TaskMatch:
    """Units are suite, task and variant."""

    both: frozenset[Unit]
    """Tried by both, with equal digests."""
    changed: tuple[Unit, ...]
    """Tried by both, but the task differs: left out of everything."""
    only_a: tuple[Unit, ...]
    only_b: tuple[Unit, ...]
    by_id: int
    """How many of `both` have no digest on a side, as imported ones, so that only the id says they are the same."""
    suites: tuple[str, ...]
    """Those whose digests differ."""


def match_tasks(a: ScoredTrials, agent_a: str, b: ScoredTrials, agent_b: str) -> TaskMatch:
    """Match the tasks of an agent of one run with those of an agent of another."""
    ours, theirs = _digests(a, agent_a), _digests(b, agent_b)
    shared = sorted(set(ours) & set(theirs))
    unsure = {unit for unit in shared if None in ours[unit] | theirs[unit]}
    changed = tuple(unit for unit in shared if unit not in unsure and ours[unit] != theirs[unit])
    suites_a, suites_b = _suite_digests(a, agent_a), _suite_digests(b, agent_b)
    return TaskMatch(
        both=frozenset(shared) - frozenset(changed),
        changed=changed,
        only_a=tuple(sorted(set(ours) - set(theirs))),
        only_b=tuple(sorted(set(theirs) - set(ours))),
        by_id=len(unsure),
        suites=tuple(
            suite for suite in sorted(set(suites_a) & set(suites_b)) if suites_a[suite] != suites_b[suite]
        ),
    )


def _digests(scored: ScoredTrials, agent: str) -> Mapping[Unit, set[str | None]]:
    found: defaultdict[Unit, set[str | None]] = defaultdict(set)
    for trial in scored.trials:
        if trial.agent == agent:
            found[trial.unit].add(trial.task_digest)
    return found


def _suite_digests(scored: ScoredTrials, agent: str) -> Mapping[str, set[str | None]]:
    found: defaultdict[str, set[str | None]] = defaultdict(set)
    for trial in scored.trials:
        if trial.agent == agent:
            found[trial.suite].add(trial.suite_digest)
    return found
