# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""Which trials of a run were tampered with, and how, by its scores?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.trajectory.finding import CODES
from evalkit.trajectory.reader import Run

CONFIRMED, SUSPECTED = "tamper_confirmed", "tamper_suspected"
_COLUMNS = ["trial_id", "metric", "value", "label"]


@dataclass(frozen=True, slots=True)
class Codes:
    """The kinds of tampering of one trial; a kind that is confirmed is not among the suspected ones."""

    confirmed: tuple[str, ...] = ()
    suspected: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Such as `T1 T8 T4?`, where what is only suspected has a question mark."""
        return " ".join([*self.confirmed, *(f"{code}?" for code in self.suspected)])


def codes_by_trial(run: Run) -> dict[str, Codes]:
    """By trial, those of which a scorer tells any kind; empty for a run that no such scorer has scored."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for group in run.scores.iter_groups(_COLUMNS):
        for row in group.to_pylist():
            if row["metric"] in {CONFIRMED, SUSPECTED} and (row["value"] or 0) > 0:
                codes = tuple(code for code in (row["label"] or "").split() if code in CODES)
                found.setdefault(row["trial_id"], {})[row["metric"]] = codes or ("tampering",)
    return {trial: Codes(own.get(CONFIRMED, ()), own.get(SUSPECTED, ())) for trial, own in found.items()}
