"""How well did an agent do, and how sure is that?"""

from __future__ import annotations

from evalkit.report.board import Row
from evalkit.report.charts.wording import share
from evalkit.scoring.arm import Arm
from evalkit.scoring.estimate import Estimate


def success_in(row: Row, arm: Arm = "clean") -> Estimate | None:
    """Its success in an arm; None where nothing is scored there."""
    return row.cells.get(f"success.{arm}") or row.cells.get(f"pass^1.{arm}")


def told(estimate: Estimate) -> str:
    """The share with its interval: `0.75 (0.41 to 0.93, 8 tasks)`."""
    if estimate.value is None:
        return "unknown"
    tasks = f"{estimate.n} task{'' if estimate.n == 1 else 's'}"
    if estimate.low is None or estimate.high is None:
        return f"{share(estimate.value)} ({tasks})"
    return f"{share(estimate.value)} ({share(estimate.low)} to {share(estimate.high)}, {tasks})"
