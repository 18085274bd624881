"""How does a verb that ran trials end?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from evalkit.errors import Incomplete

if TYPE_CHECKING:
    from evalkit.engine.run import RunResult


def end_run(result: RunResult, *, json: bool) -> None:
    """Print the run, and say by error and exit code what is missing: 130 interrupted, 6 unscored."""
    from evalkit.cli.console import print_json
    from evalkit.cli.run_table import print_run, run_as_json
    from evalkit.engine.resume import can_be_tried_again
    from evalkit.trajectory.reader import load

    finished = load(result.path)
    if json:
        print_json(run_as_json(finished))
    else:
        print_run(finished)
    if result.interrupted:
        typer.echo(f"evalkit: interrupted; go on with: evalkit resume {result.path}", err=True)
        raise typer.Exit(130)
    rows = finished.rows()
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
