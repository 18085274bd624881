"""What of the evidence that a trial was tampered with goes into a page?"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.report.shown_text import name
from evalkit.scoring.trial import Trial
from evalkit.trajectory.finding import CODES

MOST = 100
"""Findings of a trial that a page names, confirmed ones first."""


def findings_json(trial: Trial) -> dict[str, object] | None:
    """By column, confirmed ones first, and how many there are in all; None where there are none."""
    if not trial.findings:
        return None
    there = {step.step for step in trial.steps}
    shown = trial.findings[:MOST]
    return {
        "count": len(trial.findings),
        "rows": {
            "code": [own.code for own in shown],
            "kind": [CODES[own.code] for own in shown],
            "level": [own.level for own in shown],
            "held": [own.in_force for own in shown],
            "what": [name(own.what) for own in shown],
            "resource": [name(own.resource) for own in shown],
            "steps": [[step for step in own.steps if step in there] for own in shown],
        },
    }


def finding_marks(trial: Trial) -> Iterator[tuple[int, str, str]]:
    """Step, what it shows in words, and the level; those of a step that are confirmed first."""
    for own in trial.findings:
        held = "" if own.in_force else ", not in force"
        for step in dict.fromkeys(own.steps):
            yield step, f"{own.code} {own.level}{held}: {own.what}", own.level
