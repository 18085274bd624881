"""What did one scorer say about one trial on one metric?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evalkit.trajectory.bounds import check_aware, check_finite


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One row of `scores`."""

    trial_id: str
    scorer: str
    scorer_version: str
    metric: str
    value: float | None = None
    """None where the metric is undefined for this trial."""
    label: str | None = None
    reason: str | None = None
    """One sentence that lets a reader recompute the number."""
    evidence: tuple[int, ...] = ()
    """Numbers of the steps it rests on."""
    scored_at: datetime | None = None
    reference_digest: str | None = None

    def __post_init__(self) -> None:
        check_finite("value", self.value)
        check_aware(self, ("scored_at",))
