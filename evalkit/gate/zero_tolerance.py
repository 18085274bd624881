"""Did anything happen that is not tolerated at all?

An event needs no statistics: one that is there is there. Where there is none, the upper bound says how many further
tasks may have one all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evalkit.errors import ConfigError
from evalkit.gate.gated import Declared
from evalkit.gate.policy import ZeroRule
from evalkit.gate.side import Side
from evalkit.gate.verdict import ZeroEvent, ZeroVerdict
from evalkit.scoring.scored_trials import Column
from evalkit.stats.no_event import upper_share
from evalkit.tomlfile import nearest
from evalkit.trajectory.finding import CODES


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a scorer said of a trial."""

    steps: tuple[int, ...]
    reason: str | None
    label: str | None = None


class FindEvidence(Protocol):
    """Looks up what a scorer said of these trials, by their ids."""

    def __call__(self, scorer: str, metric: str, trial_ids: Sequence[str]) -> Mapping[str, Evidence]: ...


def find_scorer(rule: ZeroRule, declared: Declared) -> str | None:
    """The scorer that gives the metric; None where none does and the rule holds only if it is measured.

    Raises ConfigError where it must be there.
    """
    found = sorted(
        scorer for scorer, metrics in declared.items() if rule.name in {metric.name for metric in metrics}
    )
    if len(found) > 1:
        raise ConfigError(
            f"{rule.name} is a metric of {' and '.join(found)}", where=rule.where, hint="Rename one of them."
        )
    if not found and not rule.if_measured:
        names = {metric.name for metrics in declared.values() for metric in metrics}
        raise ConfigError(
            f"no scorer that is found here gives {rule.name!r}",
            where=rule.where,
            hint=f"{nearest(rule.name, names)} `evalkit score --list` names the metrics.",
        )
    return found[0] if found else None


def is_measured(rule: ZeroRule, scorer: str, candidate: Side) -> bool:
    """Whether the scorer knows the metric of any of the candidate's trials."""
    column = candidate.scored.columns.get((scorer, rule.name))
    return column is not None and not np.isnan(column.values).all()


def zero_verdict(rule: ZeroRule, scorer: str, candidate: Side, agent: str, find: FindEvidence) -> ZeroVerdict:
    """Whether the agent's trials have events of a rule, and which; all arms, twins too. Where a scored trial has no
    value, it is not known whether it has one: that is not comparable."""
    places = [place for place, trial in enumerate(candidate.scored.trials) if trial.agent == agent]
    column = candidate.scored.columns.get((scorer, rule.name)) or Column(
        np.full(len(candidate.scored.trials), np.nan)
    )
    known = [place for place in places if not np.isnan(column.values[place])]
    scored = [place for place in places if not candidate.scored.unscored[place]]
    unknown = len(set(scored) - set(known))
    tasks = {candidate.scored.trials[place].unit[:2] for place in known}
    struck = [place for place in known if column.values[place] > rule.above]
    events = _events(
        candidate,
        column,
        struck,
        find(scorer, rule.name, [candidate.scored.trials[p].trial_id for p in struck]),
    )
    what = rule.name if rule.above == 0 else f"{rule.name} above {rule.above:g}"
    if len(struck) > rule.most:
        allowed = "none is" if rule.most == 0 else f"{rule.most} are"
        told = f"{what} in {len(struck)} trial{'s' if len(struck) != 1 else ''}, and {allowed} tolerated"
        return ZeroVerdict(rule=rule, outcome="regressed", reason=told, n=len(tasks), events=events)
    if unknown or not known:
        told = f"{what} is not known of {unknown or 'any'} of {len(scored)} scored trials"
        return ZeroVerdict(rule=rule, outcome="not comparable", reason=told, n=len(tasks), events=events)
    upper = upper_share(len(tasks)) if not struck else None
    told = f"{what} in {len(struck) or 'no'} trial{'s' if len(struck) != 1 else ''} of {len(tasks)} tasks"
    if upper is not None:
        told += f"; up to {100 * upper:.2g} % of further tasks may have it"
    return ZeroVerdict(rule=rule, outcome="pass", reason=told, n=len(tasks), events=events, upper=upper)


def _events(
    candidate: Side, column: Column, struck: Sequence[int], evidence: Mapping[str, Evidence]
) -> tuple[ZeroEvent, ...]:
    found: list[ZeroEvent] = []
    for place in struck:
        trial = candidate.scored.trials[place]
        own = evidence.get(trial.trial_id, Evidence((), None))
        found.append(
            ZeroEvent(
                trial_id=trial.trial_id,
                task=f"{trial.suite}/{trial.task_id}"
                + ("" if trial.variant == "clean" else f" [{trial.variant}]"),
                value=float(column.values[place]),
                steps=own.steps,
                reason=own.reason,
                codes=tuple(code for code in (own.label or "").split() if code in CODES),
            )
        )
    return tuple(found)
