"""Which evidence of tampering does a run hold, trial by trial?"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import cast

import numpy as np

from evalkit.gate.verdict import TrialFinding
from evalkit.scoring.facts import Facts
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.trial import Trial
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import Run

_TOLD_BY = frozenset({"tamper_confirmed", "tamper_suspected", "tamper_attempted"})


def findings_in(run: Run, scored: ScoredTrials) -> tuple[TrialFinding, ...]:
    """Every finding of the trials that a scorer of this run has told of, in their order; none where none did."""
    struck = np.zeros(len(scored.trials), dtype=np.bool_)
    for (_, metric), column in scored.columns.items():
        if metric in _TOLD_BY:
            struck |= np.nan_to_num(column.values) > 0
    facts, found = Facts(run.manifest), list[TrialFinding]()
    for place in np.flatnonzero(struck):
        light = scored.trials[int(place)]
        row, steps = run.trial(light.trial_id)
        effects = run.effects_of(light.trial_id)
        trial = Trial(row=row, steps=steps, effects=effects, task=facts.of(light.suite, light.task_id))
        workdir = _workdir(run.manifest, f"{light.suite}/{light.task_id}")
        variant = "" if light.variant == "clean" else f" [{light.variant}]"
        found += [
            TrialFinding(
                trial_id=light.trial_id,
                agent=light.agent,
                task=f"{light.suite}/{light.task_id}{variant}",
                finding=finding,
                file=_below(workdir, finding.resource),
            )
            for finding in trial.findings
        ]
    return tuple(found)


def _workdir(manifest: RunManifest, task: str) -> str | None:
    told = manifest.tasks.get(task)
    workdir = cast("Mapping[str, object]", told).get("workdir") if isinstance(told, Mapping) else None
    return workdir if isinstance(workdir, str) and workdir.startswith("/") else None


def _below(workdir: str | None, resource: str | None) -> str | None:
    """The path of a file of the task, relative to its working directory; None for anything else."""
    if workdir is None or resource is None or not resource.startswith("/"):
        return None
    path, folder = posixpath.normpath(resource), posixpath.normpath(workdir).rstrip("/") + "/"
    return path.removeprefix(folder) if path.startswith(folder) and path != folder else None
