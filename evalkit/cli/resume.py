"""`evalkit resume`: go on with a run that was cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalkit.errors import SandboxError


def resume(
    ctx: typer.Context,
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.")] = "latest",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Go on with a run: run what is missing, and try again what is unscored."""
    from evalkit.cli.asking import terminal
    from evalkit.cli.outcome import end_run, running
    from evalkit.cli.progress import live_progress
    from evalkit.project import find_project
    from evalkit.scoring.registry import find_scorers
    from evalkit.trajectory.locate import local_run

    scorers = find_scorers(find_project())
    folder: Path = local_run(run)
    with running(ctx, folder):
        _clean()
        with live_progress(total=None) as progress:
            from evalkit.engine.start import resume as go_on

            result = go_on(folder, progress, terminal(progress, json=json))
        end_run(result, scorers, json=json)


def _clean() -> None:
    """Remove the sandboxes of processes that are gone, as `doctor --clean` does."""
    from evalkit.cli.console import note
    from evalkit.sandbox import clean_sandboxes

    try:
        for removed in clean_sandboxes():
            note(f"removed what a killed process left: {removed}")
    except SandboxError as error:
        note(f"warning: not looked for what killed processes left: {error.message}")
