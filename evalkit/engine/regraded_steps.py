"""Which steps has a trial that was graded again?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Event, Step

_OWN = "grader"


def with_evidence(steps: Sequence[Step], evidence: Iterable[Finding]) -> tuple[Step, ...]:
    """The same, but for evidence of tampering that the grader told after the agent's last step: it has told it anew.

    What others found carries over, and so does what graders of earlier stages told.
    """
    last = max((place for place, step in enumerate(steps) if not isinstance(step, Event)), default=-1)
    kept = [step for place, step in enumerate(steps) if place <= last or not _is_graders(step)]
    kept = [step if step.step == place else replace(step, step=place) for place, step in enumerate(kept)]
    known = {finding.key for step in kept if (finding := _finding(step)) is not None}
    new = {finding.key: finding for finding in evidence if finding.key not in known}
    return (
        *kept,
        *(
            Event(step=len(kept) + place, event="tampering", detail=finding.to_json())
            for place, finding in enumerate(new.values())
        ),
    )


def _finding(step: Step) -> Finding | None:
    if isinstance(step, Event) and step.event == "tampering":
        return Finding.from_json(step.detail)
    return None


def _is_graders(step: Step) -> bool:
    finding = _finding(step)
    return finding is not None and finding.source == _OWN
