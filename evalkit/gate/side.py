"""What is a candidate, and what is a baseline, once they are read?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit.measures.spending import Basis
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials

PlannedKey = tuple[str, str, str, int, str]
"""Suite, task, variant, epoch, agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRun:
    """One run that belongs to a side."""

    run_id: str
    created_at: str
    git_commit: str | None = None
    suites: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """By name, their digests; None for imported ones, which have none."""
    planned: frozenset[PlannedKey] | None = None
    """What the run was to try; None where it says nothing of that, as imported ones."""
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, "Mapping[str, str]"])
    """By agent and setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Trials with their scores, of one run or of several that are pooled."""

    name: str
    """As it was given, for messages."""
    runs: tuple[SideRun, ...]
    scored: ScoredTrials
    run_of: NDArray[np.int64]
    """Of each trial, the place of its run in `runs`."""
    graders: tuple[str | None, ...]
    """Of each trial, the digest of its grader."""
    numbers: Mapping[str, Column] = field(default_factory=dict[str, Column])
    """The trials' own numbers, by name: see `trial_number`."""
    reference_basis: Basis | None = None
    """What the reference that it is measured against counts; None where no frozen one is known."""
    weights: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """By suite and task, how much a task counts where its suite says so; the others count 1."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Sorted, also those of which no trial is there."""
        planned = {key[4] for run in self.runs for key in run.planned or ()}
        return tuple(sorted({trial.agent for trial in self.scored.trials} | planned))

    def settings_of(self, agent: str) -> dict[str, str]:
        """An agent's settings; where runs differ, all values, separated by commas."""
        found: dict[str, set[str]] = {}
        for run in self.runs:
            for setting, value in run.settings.get(agent, {}).items():
                found.setdefault(setting, set()).add(value)
        return {setting: ", ".join(sorted(values)) for setting, values in found.items()}


def planned_key(trial: LightTrial) -> PlannedKey:
    """Which planned row a trial is the outcome of."""
    return (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.agent)
