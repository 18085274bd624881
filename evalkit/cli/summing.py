"""What do a run's scores add up to, by the scorers that are found here?"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Collection, Sequence

from evalkit.cli.console import note
from evalkit.errors import EvalkitError, UsageError
from evalkit.project import find_project
from evalkit.scoring.grouping import GROUPINGS, By
from evalkit.scoring.metric import Metric
from evalkit.scoring.quantity import labelled
from evalkit.scoring.registry import find_scorer, scorer_names
from evalkit.scoring.scored_trials import ScoredTrials, read_scored, stored_scorers
from evalkit.scoring.summary import Summary, summarise
from evalkit.scoring.unreadable import readable
from evalkit.tomlfile import nearest
from evalkit.trajectory.reader import Run

FIRST = "success"
"""The scorer whose numbers everybody looks for first."""

Declared = dict[str, tuple[Metric, ...]]


def run_summary(run: Run, *, by: By | None = None, scorers: Collection[str] | None = None) -> Summary:
    """Sum up a run: the scores of these scorers, or of all that it has."""
    scored, declared = run_scores(run)
    summary = summarise(scored, declared, by=by)
    if scorers is None:
        return summary
    wanted = {
        name
        for own in summary.cells
        for name, figure in own.figures.items()
        if figure.quantity.scorer in scorers
    }
    return dataclasses.replace(summary, names=tuple(name for name in summary.names if name in wanted))


def run_scores(run: Run) -> tuple[ScoredTrials, Declared]:
    """A run's scores, and what their scorers declare."""
    declared = declared_metrics(stored_scorers(run))
    return scores_of(run, declared), declared


def scores_of(run: Run, declared: Declared) -> ScoredTrials:
    """A run's scores, by what scorers declare. Metrics that cannot be read are left out, with a warning."""
    wanted = labelled(declared)
    scored = read_scored(run, labelled=lambda scorer, metric: (scorer, metric) in wanted)
    scored, unreadable = readable(scored, declared)
    for one in unreadable:
        again = f"evalkit score {shlex.quote(run.path)} --scorer {one.scorer}"
        note(f"warning: {one}; compute them again: {again}")
    return scored


def declared_metrics(stored: Collection[str]) -> Declared:
    """By scorer. One that is not here any more is left out; one that cannot be loaded too, with a warning: whatever
    becomes of a project's scorers, its runs can be shown.

    A run says which scorers it has scores of, and runs come from anywhere: a name in one never makes a file be run
    that is not a scorer of this project, or bundled, or installed.
    """
    project = find_project()
    known = set(scorer_names(project))
    declared: Declared = {}
    for name in sorted(stored, key=lambda name: (name != FIRST, name)):
        if name not in known or "/" in name or name.endswith(".py"):
            continue
        try:
            found = find_scorer(project, name)
        except EvalkitError as error:
            where = f"{error.where}: " if error.where else ""
            said = " ".join(f"{where}{error.message}".split())
            note(f"warning: the scores of {name} are shown without its declarations: {said}")
            continue
        declared[name] = found.scorer.metrics
        if found.passed_over is not None:
            note(f"warning: {found.passed_over} has the name of a bundled scorer and is not used: rename it")
    return declared


def only(summary: Summary, names: Sequence[str]) -> Summary:
    """The summary of these numbers alone, or of those that these metrics give; of all, for none.

    Raises UsageError for a name that nothing in it has.
    """
    if not names:
        return summary
    figures = {name: figure for own in summary.cells for name, figure in own.figures.items()}
    known = sorted({*figures, *(figure.quantity.name for figure in figures.values())})
    check_names(names, known)
    wanted = {name for name, figure in figures.items() if name in names or figure.quantity.name in names}
    return dataclasses.replace(summary, names=tuple(name for name in summary.names if name in wanted))


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError for the first of these metrics that is not known."""
    for name in names:
        if name not in known:
            raise UsageError(
                f"there are no scores of {name!r}",
                hint=f"{nearest(name, known)} There are: {', '.join(known)}.",
            )


def grouping(by: str | None) -> By | None:
    """What `--by` names. Raises UsageError for anything that trials are not grouped by."""
    if by is None:
        return None
    for known in GROUPINGS:
        if by == known:
            return known
    raise UsageError(
        f"trials are not grouped by {by!r}",
        hint=f"{nearest(by, GROUPINGS)} There are: {', '.join(GROUPINGS)}.",
    )
