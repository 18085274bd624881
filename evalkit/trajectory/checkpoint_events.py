# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""Of which trials of a run were states of the work graded that were copied out while agents went on?"""

from __future__ import annotations

import pyarrow.compute as pc

from evalkit.trajectory.reader import Run


def checkpointed_trials(run: Run) -> frozenset[str]:
    """The ids of those with a state that was graded. The ends of stages are none."""
    found: set[str] = set()
    for rows in run.steps.iter_groups(["trial_id", "event", "detail"]):
        chosen = rows.filter(pc.equal(rows.column("event").cast("string"), "checkpoint"))
        if not chosen.num_rows:
            continue
        details = chosen.column("detail")
        is_state = pc.match_substring(details, '"of_step"')
        is_graded = pc.match_substring_regex(details, r'"passed": ?(true|false)')
        found.update(chosen.column("trial_id").filter(pc.and_(is_state, is_graded)).unique().to_pylist())
    return frozenset(found)


def checkpointed_tasks(run: Run) -> frozenset[tuple[str, str]]:
    """Suite and id of each task of which a trial has one."""
    trials = checkpointed_trials(run)
    if not trials:
        return frozenset()
    return frozenset((row.suite, row.task_id) for row in run.iter_rows() if row.trial_id in trials)
