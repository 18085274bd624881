"""How does a verb that ran trials end?"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evalkit.cli.interrupt import CODE, Interrupts
from evalkit.errors import Incomplete

if TYPE_CHECKING:
    from evalkit.engine.run import RunResult
    from evalkit.scoring.registry import Named
    from evalkit.trajectory.trial import Trial


@contextlib.contextmanager
def running(ctx: typer.Context, run: Path) -> Generator[None, None, None]:
    """While trials run: an interrupt, wherever it strikes, says how the run is gone on with."""
    from evalkit.trajectory.layout import manifest_file

    interrupts = ctx.find_object(Interrupts)
    with contextlib.nullcontext() if interrupts is None else interrupts.of(run):
        try:
            yield
        except KeyboardInterrupt:
            if not manifest_file(run).is_file():
                raise  # there is no run yet
            raise _interrupted(run) from None


def end_run(result: RunResult, scorers: Sequence[Named], *, json: bool) -> None:
    """Score and print the run, and say by error and exit code what is missing: 130 interrupted, 6 unscored.

    A run that was interrupted is scored when it has been resumed.
    """
    from evalkit.cli.console import note, print_json
    from evalkit.cli.run_table import print_run, run_as_json
    from evalkit.cli.scoring import refuse_failures, score_finished
    from evalkit.engine.resume import can_be_tried_again
    from evalkit.trajectory.reader import load

    scored = None if result.interrupted else score_finished(result.path, scorers)
    finished = load(result.path)
    if json:
        print_json(run_as_json(finished))
    else:
        print_run(finished)
    if result.interrupted:
        raise _interrupted(result.path)
    rows = finished.rows()
    for warning in _served_otherwise(rows):
        note(f"warning: {warning}")
    unscored = [trial for trial in rows if trial.status == "unscored"]
    if unscored:
        again = any(map(can_be_tried_again, unscored))
        raise Incomplete(
            f"{len(unscored)} of {len(rows)} trials are unscored",
            where=str(result.path),
            hint=f"When the cause is gone, try them again: evalkit resume {result.path}"
            if again
            else "The task or its grader is the cause: repair it, then start a new run.",
        )
    if scored is not None:
        refuse_failures(result.path, scored)


def _served_otherwise(trials: Sequence[Trial]) -> list[str]:
    """Models that answered under a name that is not the one asked for, as routers and aliases do."""
    from evalkit.models.name import is_served_by

    pairs = Counter(
        (trial.model, trial.model_served)
        for trial in trials
        if trial.model and trial.model_served and not is_served_by(trial.model, trial.model_served)
    )
    return [
        f"{asked} was answered by {served} in {times} of {sum(trial.model == asked for trial in trials)} trials"
        for (asked, served), times in pairs.items()
    ]


def _interrupted(run: Path) -> typer.Exit:
    typer.echo(f"evalkit: interrupted; go on with: evalkit resume {run}", err=True)
    return typer.Exit(CODE)
