"""`evalkit show`: a run as a table, a trial as a timeline."""

from __future__ import annotations

from typing import Annotated

import typer

from evalkit.cli.trial_filter import AgentOption, StatusOption, TaskOption, VariantOption
from evalkit.errors import UsageError


def show(
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.")] = "latest",
    trial: Annotated[str | None, typer.Argument(help="Id of one trial.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Sum up by skill, difficulty, suite, task or variant.", metavar="WORD")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Show only these metrics.", metavar="METRIC,...")
    ] = None,
    task: TaskOption = None,
    agent: AgentOption = None,
    status: StatusOption = None,
    variant: VariantOption = None,
    full: Annotated[bool, typer.Option("--full", help="Fold nothing, and leave nothing out.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a run as a table, or one trial as a timeline."""
    from evalkit.cli.console import print_json
    from evalkit.cli.opening import open_run
    from evalkit.cli.trial_filter import trial_filter

    opened = open_run(run)
    if trial is None:
        from evalkit.cli.run_table import print_run, run_as_json
        from evalkit.cli.splitting import split
        from evalkit.cli.summing import grouping

        known = [*opened.rows(), *opened.manifest.planned]
        asked = trial_filter(known, task=task, agent=agent, status=status, variant=variant)
        grouped, metrics = grouping(by), split(metric, "--metric")
        if json:
            print_json(run_as_json(opened, by=grouped, metrics=metrics, asked=asked))
        else:
            print_run(opened, by=grouped, metrics=metrics, asked=asked, full=full)
        return
    if by is not None or metric:
        raise UsageError("--by and --metric sum up a run, and this is one trial of it", where=trial)
    from evalkit.cli.timeline import print_trial, trial_as_json

    row, steps = opened.trial(trial)
    if json:
        print_json(trial_as_json(row, steps))
    else:
        print_trial(row, steps, full=full)
