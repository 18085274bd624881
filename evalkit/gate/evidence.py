# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""Which steps of a run does an event rest on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit.gate.zero_tolerance import Evidence, FindEvidence
from evalkit.trajectory.reader import Run

_COLUMNS = ["trial_id", "scorer", "metric", "label", "reason", "evidence"]


def evidence_in(run: Run) -> FindEvidence:
    """Looks up reasons and steps in a run's scores."""

    def find(scorer: str, metric: str, trial_ids: Sequence[str]) -> Mapping[str, Evidence]:
        wanted = set(trial_ids)
        found: dict[str, Evidence] = {}
        if not wanted:
            return found
        for group in run.scores.iter_groups(_COLUMNS):
            for row in group.to_pylist():
                if row["trial_id"] in wanted and (row["scorer"], row["metric"]) == (scorer, metric):
                    found[row["trial_id"]] = Evidence(
                        tuple(row["evidence"] or ()), row["reason"], row["label"]
                    )
        return found

    return find
