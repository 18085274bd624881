"""Which tasks are worth a look?"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.gate.verdict import TaskOutcome


def worse(tasks: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """Those that were passed less often than before, the worst first."""
    found = [own for own in tasks if not own.known_failing and (own.change or 0) < 0]
    return sorted(found, key=lambda own: (own.change or 0, own.key))


def newly_passing(tasks: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """Those that were never passed before, and now are; also where they are known to fail."""
    return [own for own in tasks if own.baseline_rate == 0 and (own.candidate_rate or 0) > 0]


def flaky(tasks: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """Those that the candidate passes at times, and did before, about as often."""
    return [
        own
        for own in tasks
        if own.candidate_rate not in (None, 0, 1)
        and own.baseline_rate not in (None, 0)
        and (own.change or 0) >= 0
    ]
