"""`evalkit report`: a leaderboard that opens from disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evalkit.report.board import Board
    from evalkit.report.target import Target
    from evalkit.report.trajectories import Trajectories


def report(
    runs: Annotated[list[str], typer.Argument(help="Folders of runs, or `latest`.", metavar="RUN...")],
    out: Annotated[
        str, typer.Option(help="A file that ends in .html, .md or .csv, or a folder.", metavar="FILE|DIR")
    ] = "leaderboard.html",
    title: Annotated[str | None, typer.Option(help="Of the page. [the suites]", metavar="TEXT")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write a leaderboard of one or several runs, which needs no server and no network."""
    from evalkit.cli.console import note, stdout
    from evalkit.report.target import INDEX, target_of

    target = target_of(os.fspath(out))
    board = _board(runs)
    for told in board.notes:
        note(f"warning: {told}")
    size = _write(target, board, title)
    path = target.path / INDEX if target.kind == "folder" else target.path
    stdout().print(f"{path}: {size}", markup=False, highlight=False, soft_wrap=True)
    if open_:
        import webbrowser

        if not webbrowser.open(path.absolute().as_uri()):
            note(f"warning: no browser was found here; open it yourself: {path.absolute()}")


def _board(names: list[str]) -> Board:
    from evalkit.cli.opening import open_run
    from evalkit.cli.summing import declared_metrics, scores_of
    from evalkit.report.board import make_board
    from evalkit.report.distinct import distinct
    from evalkit.scoring.scored_trials import stored_scorers

    opened, notes = distinct([(name, open_run(name)) for name in names])
    declared = declared_metrics({scorer for _, run in opened for scorer in stored_scorers(run)})
    scored = [scores_of(run, declared) for _, run in opened]
    return make_board(opened, scored, declared, notes=notes)


def _write(target: Target, board: Board, title: str | None) -> str:
    from evalkit.report.plain import as_csv, as_markdown
    from evalkit.report.target import write_file, write_folder
    from evalkit.report.trajectories import chosen

    match target.kind:
        case "markdown":
            return write_file(target, as_markdown(board))
        case "csv":
            return write_file(target, as_csv(board))
        case "page":
            return write_file(target, _page(board, title, chosen(board.runs, board.scored)))
        case "folder":
            return write_folder(target, board, lambda found: _page(board, title, found))


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
