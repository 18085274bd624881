"""What is an accepted baseline?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.gate.side import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Who made a run the baseline, when and why."""

    run_id: str
    at: str
    """ISO 8601."""
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """Runs that were accepted, pooled: never the best of several."""

    accepted: tuple[Acceptance, ...]
    """One a run, in their order."""
    side: Side
