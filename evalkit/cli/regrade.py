"""`evalkit regrade`: grade what trials delivered again, by the graders that the suite has now."""

from __future__ import annotations

from typing import Annotated

import typer


def regrade(
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.")] = "latest",
    trials: Annotated[
        list[str] | None, typer.Argument(help="Ids of trials. [all]", metavar="[TRIAL]...")
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="Where graders run: local or docker. [as the run]")
    ] = None,
    checkpoints: Annotated[
        bool,
        typer.Option(
            "--checkpoints", help="Grade stored states that have no verdict yet, too, and only such trials."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run the suite's graders again on what trials delivered, without models, and score the run again."""
    from evalkit.cli.console import print_json
    from evalkit.cli.interrupt import CODE
    from evalkit.cli.regraded import print_regraded, refuse_left, regraded_as_json
    from evalkit.cli.scoring import counting, refuse_failures, score_finished
    from evalkit.engine.regrading import regrade as grade_again
    from evalkit.project import find_project
    from evalkit.sandbox import check_kind
    from evalkit.scoring.registry import find_scorers
    from evalkit.trajectory.locate import local_run
    from evalkit.trajectory.printable import quoted

    scorers = find_scorers(find_project())
    folder = local_run(run)
    if sandbox is not None:
        check_kind(sandbox)
    with counting("graded again", "grading") as heard:
        result = grade_again(folder, trials or (), sandbox=sandbox, checkpoints=checkpoints, heard=heard)
    scored = score_finished(folder, scorers) if any(one.after for one in result.trials) else None
    if json:
        print_json(regraded_as_json(result))
    else:
        print_regraded(result)
    if result.interrupted:
        asked = [quoted(one) for one in (str(folder), *(trials or ()))]
        asked += [f"--sandbox {sandbox}"] * (sandbox is not None) + ["--checkpoints"] * checkpoints
        typer.echo(f"evalkit: interrupted; grade the rest with: evalkit regrade {' '.join(asked)}", err=True)
        raise typer.Exit(CODE)
    refuse_left(result)
    if scored is not None:
        refuse_failures(folder, scored)
