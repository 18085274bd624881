"""Does an agent get on, or go round in circles?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.progressing import achieved_then_lost, progress
from evalkit.measures.revisiting import state_revisits

NO_STATES = "there are no graded checkpoints with named checks, or tokens are unknown"
_share = partial(Metric, unit="share", low=0, high=1, null_when=NO_STATES)


@dataclass(frozen=True)
class Progressing(Scorer):
    """Progress while acting: by graded checkpoints where there are any, else by the states of the workspace."""

    version = "2"
    metrics = (
        _share(
            name="progress_auc",
            meaning="area under the share of checks that pass, over the share of tokens generated",
            better="higher",
        ),
        Metric(
            name="progress_lost",
            meaning="sum of all falls of the share of checks that pass",
            better="lower",
            low=0,
            null_when=NO_STATES,
        ),
        _share(
            name="longest_stall",
            meaning="largest share of tokens without a new best share of checks, the end included",
            better="lower",
        ),
        _share(
            name="achieved_then_lost",
            meaning="everything was achieved at some checkpoint, and not at the end",
            better="lower",
            null_when="there are no graded checkpoints",
        ),
        Metric(
            name="state_revisits",
            meaning="times that the workspace returned to an earlier state after leaving it",
            unit="times",
            better="lower",
            low=0,
            null_when="no call's workspace digest is known",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        yield _revisits(trial)
        at_end, states = trial.row.checks, trial.states
        taken = tuple(state.step for state in states)
        still = trial.changed_nothing
        lost = achieved_then_lost(states, passed=trial.passed is True, at_end=at_end, unchanged=still)
        if lost is not None and trial.passed is not None:
            told = f"achieved at {len(lost)} of {len(states)} checkpoints and not at the end"
            yield Score("achieved_then_lost", float(bool(lost)), told if lost else "nothing was lost", lost)
        start = trial.task.passes_at_start
        found = progress(trial.steps, states, at_start=start, at_end=at_end, unchanged=still)
        if found is not None:
            told = "share of checks: " + ", ".join(
                f"{p:.2f} at {share:.0%}" for share, p in found.points[:12]
            )
            yield Score("progress_auc", min(1.0, found.auc), told, taken)
            yield Score("progress_lost", found.lost, told, taken)
            yield Score("longest_stall", min(1.0, found.longest_stall), told, taken)


def _revisits(trial: Trial) -> Score:
    digests = [action.workspace_digest for action in trial.actions]
    known = sum(digest is not None for digest in digests)
    states = len({digest for digest in digests if digest is not None})
    revisits = state_revisits(digests)
    value = None if revisits is None else float(revisits)
    return Score(
        "state_revisits", value, f"{states} different states after {known} calls whose state is known"
    )
