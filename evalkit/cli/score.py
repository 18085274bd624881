"""`evalkit score`: compute a run's scores from its record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Names = Annotated[
    list[str] | None,
    typer.Option("--scorer", "-s", metavar="SCORER,...", help="Scorers by name, or files. [all there are]"),
]


def score(
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.")] = "latest",
    scorer: Names = None,
    by: Annotated[
        str | None, typer.Option(help="Sum up by skill, difficulty, suite, task or variant.", metavar="WORD")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Measure costs against this file from now on; the run keeps a copy.", metavar="FILE"
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List scorers and their metrics, and stop.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compute scores again, all or named ones, from a run's record alone."""
    from evalkit.cli.console import note
    from evalkit.cli.reference_kept import keep
    from evalkit.cli.scoring import note_unfinished, print_scores, refuse_failures, score_finished
    from evalkit.cli.splitting import split
    from evalkit.cli.summing import grouping
    from evalkit.project import find_project
    from evalkit.scoring.registry import find_scorers
    from evalkit.trajectory.locate import local_run
    from evalkit.trajectory.recovery import recover

    grouped = grouping(by)
    scorers = find_scorers(find_project(), split(scorer, "--scorer"))
    if listed:
        from evalkit.cli.scorer_table import print_scorers

        print_scorers(scorers, json=json)
        return
    folder = local_run(run)
    recover(folder)
    note_unfinished(folder)
    if reference is not None:
        keep(folder, reference)
    scored = score_finished(folder, scorers)
    note(f"{scored.trials} trials, {len(scorers)} scorers: {scored.scores:,} scores in {folder / 'scores'}")
    print_scores(folder, [named.name for named in scorers], by=grouped, all_metrics=bool(scorer), json=json)
    refuse_failures(folder, scored)
