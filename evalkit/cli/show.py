"""`evalkit show`: a run as a table, a trial as a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.option_group import grouped
from evalkit.cli.show_options import ShowOptions
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.cli.run_view import RunView
    from evalkit.trajectory.reader import Run


@grouped(ShowOptions)
def show(
    options: ShowOptions,
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.")] = "latest",
    trial: Annotated[str | None, typer.Argument(help="Id of one trial.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a run as a table, or one trial as a timeline."""
    from evalkit.cli.opening import open_run

    if options.follow:
        _check_followed(run, trial, failures=options.failures)
    opened = _open_untouched(run) if options.follow else open_run(run)
    if trial is not None:
        options.refuse_for_trial(trial)
        _show_trial(opened, trial, options.metric, full=options.full, json=json)
        return
    view = options.view(opened)
    if options.failures:
        _show_failures(opened, view, json=json)
    else:
        _show_run(opened, view, follow=options.follow, json=json)


def _show_run(run: Run, view: RunView, *, follow: bool, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.cli.run_table import print_run, run_as_json

    if follow:
        from evalkit.cli.follow import follow as follow_run

        follow_run(Path(run.path), view, json=json)
    elif json:
        print_json(run_as_json(run, view))
    else:
        print_run(run, view)


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


def _show_failures(run: Run, view: RunView, *, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.cli.failures import failures_as_json, print_failures

    if view.by is not None or view.metrics or view.all_metrics:
        raise UsageError(
            "--by, --metric and --all-metrics sum up trials, and --failures lists them", where=run.path
        )
    if json:
        print_json(failures_as_json(run, view.asked))
    else:
        print_failures(run, view.asked, full=view.full)


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
