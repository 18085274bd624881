"""Who hears what happens in a run, as it happens?"""

from __future__ import annotations

from typing import Protocol

from evalkit.engine.plan import Planned
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial


class Progress(Protocol):
    """Hears what happens in a run, as it happens."""

    def planned(self, total: int) -> None:
        """So many trials will be run."""
        ...

    def started(self, planned: Planned) -> None:
        """A trial left the queue."""
        ...

    def stepped(self, planned: Planned, step: Step) -> None:
        """A step was recorded."""
        ...

    def finished(self, planned: Planned, trial: Trial) -> None:
        """A trial was committed."""
        ...
