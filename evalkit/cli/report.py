"""`evalkit report`: a leaderboard that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evalkit.report.board import Board
    from evalkit.report.trajectories import Trajectories


def report(
    runs: Annotated[list[str], typer.Argument(help="Folders of runs, or `latest`.", metavar="RUN...")],
    out: Annotated[
        Path, typer.Option(help="A file that ends in .html, .md or .csv, or a folder.", metavar="FILE|DIR")
    ] = Path("leaderboard.html"),
    title: Annotated[str | None, typer.Option(help="Of the page. [the suites]", metavar="TEXT")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write a leaderboard of one or several runs, which needs no server and no network."""
    from evalkit.cli.console import stdout
    from evalkit.cli.opening import open_run
    from evalkit.cli.summing import declared_metrics, scores_of
    from evalkit.report.board import make_board
    from evalkit.report.plain import as_csv, as_markdown
    from evalkit.report.trajectories import chosen, write_shards
    from evalkit.scoring.scored_trials import stored_scorers
    from evalkit.trajectory.atomic import writing

    opened = [(name, open_run(name)) for name in dict.fromkeys(runs)]
    declared = declared_metrics({scorer for _, run in opened for scorer in stored_scorers(run)})
    scored = [scores_of(run, declared) for _, run in opened]
    board = make_board(opened, scored, declared)
    match out.suffix.lower():
        case ".md":
            _write(out, as_markdown(board))
        case ".csv":
            _write(out, as_csv(board))
        case ".html" | ".htm":
            _write(out, _page(board, title, chosen(board.runs, board.scored)))
        case _:
            with writing(out):
                out.mkdir(parents=True, exist_ok=True)
                found = write_shards(out, board.runs, board.scored)
            out = out / "index.html"
            _write(out, _page(board, title, found))
    stdout().print(
        f"{out}: {out.stat().st_size / 1000:,.0f} kB", markup=False, highlight=False, soft_wrap=True
    )
    if open_:
        typer.launch(str(out.absolute()))


def _page(board: Board, title: str | None, found: Trajectories) -> str:
    from evalkit import __version__
    from evalkit.project import find_project
    from evalkit.report.block import block
    from evalkit.report.copied import copied
    from evalkit.report.page import render
    from evalkit.report.views import chart_views, trial_views

    return render(
        board,
        find_project(),
        title=title or ", ".join(sorted(board.suites)),
        version=__version__,
        views=(*chart_views(board), *trial_views(found)),
        data={
            "copied": block(copied(board)),
            "index": block(found.index),
            **{f"trials-{n}": text for n, text in enumerate(found.blocks)},
        },
    )


def _write(path: Path, text: str) -> None:
    from evalkit.trajectory.atomic import write_text, writing

    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
