"""Which evidence of tampering does a trial's record hold?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Event, Step
from evalkit.trajectory.trial import Trial


def recorded(steps: Iterable[Step]) -> tuple[Finding, ...]:
    """What was found while the sandbox still stood."""
    found = (
        Finding.from_json(step.detail)
        for step in steps
        if isinstance(step, Event) and step.event == "tampering"
    )
    return tuple(finding for finding in found if finding is not None)


def findings_of(row: Trial, steps: Sequence[Step], effects: Sequence[Effect]) -> tuple[Finding, ...]:
    """All evidence, each piece once, confirmed first, then by step. Empty for an empty trajectory."""
    del row, effects
    each = {finding.key: finding for finding in recorded(steps)}
    return tuple(
        sorted(each.values(), key=lambda one: (one.level != "confirmed", one.steps or (1 << 62,), one.code))
    )
