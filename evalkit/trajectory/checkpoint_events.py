# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""Were states of the work copied out in a run while agents went on?"""

from __future__ import annotations

import pyarrow.compute as pc

from evalkit.trajectory.reader import Run


def has_checkpoints(run: Run) -> bool:
    """Whether any trial has one, be it graded or not. The ends of stages are none."""
    for rows in run.steps.iter_groups(["event", "detail"]):
        chosen = rows.filter(pc.equal(rows.column("event").cast("string"), "checkpoint"))
        if chosen.num_rows and pc.any(pc.match_substring(chosen.column("detail"), '"of_step"')).as_py():
            return True
    return False
