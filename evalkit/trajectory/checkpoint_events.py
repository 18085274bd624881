# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""Were states of the work copied out in a run while agents went on?"""

from __future__ import annotations

import pyarrow.compute as pc

from evalkit.trajectory.reader import Run


def has_checkpoints(run: Run) -> bool:
    """Whether any trial has one that was graded. The ends of stages are none."""
    for rows in run.steps.iter_groups(["event", "detail"]):
        chosen = rows.filter(pc.equal(rows.column("event").cast("string"), "checkpoint"))
        if not chosen.num_rows:
            continue
        details = chosen.column("detail")
        is_state = pc.match_substring(details, '"of_step"')
        is_graded = pc.match_substring_regex(details, r'"passed": ?(true|false)')
        if pc.any(pc.and_(is_state, is_graded)).as_py():
            return True
    return False
