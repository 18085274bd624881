"""What do a run's scores add up to, by the scorers that are found here?"""

from __future__ import annotations

import dataclasses
import difflib
import shlex
from collections.abc import Collection, Sequence

from evalkit.cli.console import note
from evalkit.cli.prose import one_line
from evalkit.errors import EvalkitError, UsageError
from evalkit.project import find_project
from evalkit.scoring.grouping import GROUPINGS, By
from evalkit.scoring.metric import Metric
from evalkit.scoring.quantity import Quantity, labelled
from evalkit.scoring.registry import find_scorer, scorer_names
from evalkit.scoring.scored_trials import ScoredTrials, read_scored, stored_scorers
from evalkit.scoring.summary import Summary, summarise
from evalkit.scoring.unreadable import readable
from evalkit.trajectory.printable import cut
from evalkit.trajectory.reader import Run

FIRST = "success"
"""The scorer whose numbers everybody looks for first."""

Declared = dict[str, tuple[Metric, ...]]


def run_summary(
    run: Run, *, by: By | None = None, scorers: Collection[str] | None = None, metrics: Sequence[str] = ()
) -> Summary:
    """Sum up a run: the scores of these scorers, or of all that it has; of these metrics alone, where all are known."""
    scored, declared = run_scores(run)
    return summary_of(scored, declared, by=by, scorers=scorers, metrics=metrics)


def summary_of(
    scored: ScoredTrials,
    declared: Declared,
    *,
    by: By | None = None,
    scorers: Collection[str] | None = None,
    metrics: Sequence[str] = (),
) -> Summary:
    """Sum up what has been read already."""
    summary = summarise(scored, declared, by=by, wanted=metrics)
    if scorers is None:
        return summary
    return _kept(summary, {name for name, own in quantities_of(summary).items() if own.scorer in scorers})


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
        again = f"evalkit score {shlex.quote(run.path)} --scorer {shlex.quote(cut(one.scorer))}"
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


def quantities_of(summary: Summary) -> dict[str, Quantity]:
    """Where each number comes from, also of those without any value."""
    return {name: figure.quantity for own in summary.cells for name, figure in own.figures.items()}


def only(summary: Summary, names: Sequence[str], run: str) -> Summary:
    """The summary of these numbers alone, or of those that these metrics give; of all, for none.

    A number that was asked for by name is kept without any value, too. Raises UsageError for a name that nothing in
    the run has.
    """
    if not names:
        return summary
    known = quantities_of(summary)
    check_names(
        names,
        {*known, *(quantity.name for quantity in known.values())},
        without_scores=() if summary.scorers else (run,),
    )
    wanted = {
        name
        for name, quantity in known.items()
        if {name, name.rpartition("/")[2], quantity.name}.intersection(names)
    }
    kept = _kept(summary, wanted)
    there = [*kept.names, *(name for name in known if name in wanted and name not in kept.names)]
    return dataclasses.replace(kept, names=tuple(there))


def without_parts(summary: Summary) -> Summary:
    """The summary without numbers that are there only for others to be computed of."""
    known = quantities_of(summary)
    return _kept(
        summary,
        {name for name, own in known.items() if own.metric is None or not own.metric.is_part},
    )


def check_names(names: Sequence[str], known: Collection[str], *, without_scores: Sequence[str] = ()) -> None:
    """Raise UsageError for the first of these metrics that is not known, with those that may have been meant.

    `without_scores` names the runs that have none: then they are what is missing, whatever the metric is called.
    """
    for name in names:
        if name in known:
            continue
        hint = choices(name, known)
        if without_scores:
            commands = ", ".join(f"evalkit score {shlex.quote(run)}" for run in dict.fromkeys(without_scores))
            there = ", ".join(map(one_line, sorted(known)))
            hint = f"A run without scores knows only {there}. Compute them: {commands}"
        raise UsageError(f"there are no scores of {name!r}", hint=hint)


def choices(name: str, known: Collection[str]) -> str:
    """A hint with all that there is, each once: first what comes near to the name, then the rest."""
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    rest = ", ".join(map(one_line, sorted(set(known) - set(near))))
    if not near:
        return f"There are: {rest}."
    return f"Did you mean {' or '.join(map(one_line, near))}?" + (f" There are also: {rest}." if rest else "")


def grouping(by: str | None) -> By | None:
    """What `--by` names. Raises UsageError for anything that trials are not grouped by."""
    if by is None:
        return None
    for known in GROUPINGS:
        if by == known:
            return known
    raise UsageError(f"trials are not grouped by {by!r}", hint=choices(by, GROUPINGS))


def _kept(summary: Summary, wanted: Collection[str]) -> Summary:
    """The summary without the numbers that are not wanted."""
    cells = tuple(
        dataclasses.replace(
            own, figures={name: figure for name, figure in own.figures.items() if name in wanted}
        )
        for own in summary.cells
    )
    names = tuple(name for name in summary.names if name in wanted)
    return dataclasses.replace(summary, cells=cells, names=names)
