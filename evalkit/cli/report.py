"""`evalkit report`: a leaderboard that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[str], typer.Argument(help="Folders of runs, or `latest`.", metavar="RUN...")],
    out: Annotated[
        Path, typer.Option(help="A file that ends in .html, .md or .csv, or a folder.", metavar="FILE|DIR")
    ] = Path("leaderboard.html"),
    title: Annotated[str | None, typer.Option(help="Of the page. [the suites]", metavar="TEXT")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write a leaderboard of one or several runs, which needs no server and no network."""
    from evalkit import __version__
    from evalkit.cli.console import stdout
    from evalkit.cli.opening import open_run
    from evalkit.cli.summing import declared_metrics, scores_of
    from evalkit.project import find_project
    from evalkit.report.board import make_board
    from evalkit.report.page import render
    from evalkit.report.plain import as_csv, as_markdown
    from evalkit.report.views import chart_views
    from evalkit.scoring.scored_trials import stored_scorers
    from evalkit.trajectory.atomic import write_text

    opened = [(name, open_run(name)) for name in dict.fromkeys(runs)]
    declared = declared_metrics({scorer for _, run in opened for scorer in stored_scorers(run)})
    scored = [scores_of(run, declared) for _, run in opened]
    board = make_board(opened, scored, declared)
    match out.suffix.lower():
        case ".md":
            page = as_markdown(board)
        case ".csv":
            page = as_csv(board)
        case _:
            page = render(
                board,
                find_project(),
                title=title or ", ".join(sorted(board.suites)),
                version=__version__,
                views=chart_views(board),
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, page)
    stdout().print(
        f"{out}: {len(page.encode()) / 1000:,.0f} kB", markup=False, highlight=False, soft_wrap=True
    )
    if open_:
        typer.launch(str(out.absolute()))
