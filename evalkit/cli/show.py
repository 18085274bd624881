"""`evalkit show`: a run as a table, a trial as a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.trial_filter import AgentOption, StatusOption, TaskOption, TrialFilter, VariantOption
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.trajectory.reader import Run


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
    failures: Annotated[
        bool, typer.Option("--failures", help="Show failing and unscored trials by their likely cause.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show trials of a running run as they finish, until it ends.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Fold nothing, and leave nothing out.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a run as a table, or one trial as a timeline."""
    from evalkit.cli.console import print_json
    from evalkit.cli.opening import open_run
    from evalkit.cli.trial_filter import trial_filter

    if follow:
        _check_followed(run, trial, failures=failures)
    opened = _open_untouched(run) if follow else open_run(run)
    if trial is None:
        from evalkit.cli.run_table import print_run, run_as_json
        from evalkit.cli.splitting import split
        from evalkit.cli.summing import grouping

        planned = opened.manifest.planned
        known = planned if follow and planned else [*opened.rows(), *planned]
        asked = trial_filter(known, task=task, agent=agent, status=status, variant=variant)
        grouped, metrics = grouping(by), split(metric, "--metric")
        if failures:
            _show_failures(opened, asked, summed=by is not None or bool(metrics), full=full, json=json)
            return
        if follow:
            from evalkit.cli.follow import follow as follow_run

            folder = Path(opened.path)
            follow_run(folder, asked, by=grouped, metrics=metrics, full=full, json=json)
        elif json:
            print_json(run_as_json(opened, by=grouped, metrics=metrics, asked=asked))
        else:
            print_run(opened, by=grouped, metrics=metrics, asked=asked, full=full)
        return
    if by is not None or task or agent or status or variant or failures:
        raise UsageError(
            "--by, --task, --agent, --status, --variant and --failures are about a run, and this is one trial of it",
            where=trial,
        )
    _show_trial(opened, trial, metric, full=full, json=json)


def _check_followed(run: str, trial: str | None, *, failures: bool) -> None:
    if trial is not None:
        raise UsageError("--follow is about a whole run, and this is one trial of it", where=trial)
    if failures:
        raise UsageError(
            "--follow tells trials as they end, and --failures sorts those that have ended",
            where=run,
            hint="Use one of them: --follow --status failed,unscored, or later --failures.",
        )


def _open_untouched(run: str) -> Run:
    from evalkit.trajectory.locate import is_remote, local_run
    from evalkit.trajectory.reader import load

    if is_remote(run):
        raise UsageError("only a run on this machine can be followed", where=run)
    return load(local_run(run))


def _show_failures(run: Run, asked: TrialFilter, *, summed: bool, full: bool, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.cli.failures import failures_as_json, print_failures

    if summed:
        raise UsageError("--by and --metric sum up trials, and --failures lists them", where=run.path)
    if json:
        print_json(failures_as_json(run, asked))
    else:
        print_failures(run, asked, full=full)


def _show_trial(run: Run, trial: str, metric: list[str] | None, *, full: bool, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.cli.splitting import split
    from evalkit.cli.timeline import print_scores_of, print_trial, trial_as_json
    from evalkit.cli.trial_scores import of_metrics, trial_scores
    from evalkit.scoring.facts import Facts

    row, steps = run.trial(trial)
    facts = Facts(run.manifest).of(row.suite, row.task_id)
    scores, effects = trial_scores(run, row.trial_id), run.effects_of(row.trial_id)
    names = split(metric, "--metric")
    if names:
        scores = of_metrics(scores, names, run.path)
    if json:
        print_json(trial_as_json(row, steps, task=facts, scores=scores, effects=effects))
        return
    print_trial(row, steps, full=full, task=facts, effects=effects)
    print_scores_of(scores, full=full, chosen=bool(names), run=run.path)
