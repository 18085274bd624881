"""`evalkit run`: run suites, and keep every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.option_group import grouped
from evalkit.cli.run_options import RunOptions

if TYPE_CHECKING:
    from evalkit.engine.prepare import Prepared

LOUD = (
    "No --model was given: running scripted/oracle, which plays each task's own solution. No model is tested."
)


@grouped(RunOptions)
def run(
    ctx: typer.Context,
    options: RunOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run suites in sandboxes and record every step."""
    from evalkit.engine.prepare import prepare

    _go(ctx, prepare(options.flags()), dry_run=dry_run, json=json)


def _go(ctx: typer.Context, prepared: Prepared, *, dry_run: bool, json: bool) -> None:
    _announce(prepared)
    if dry_run:
        _show_plan(prepared, json=json)
    else:
        _start(ctx, prepared, json=json)


def _announce(prepared: Prepared) -> None:
    from evalkit.cli.console import note

    for warning in prepared.warnings:
        note(f"warning: {warning}")
    if prepared.oracle_by_default:
        note(LOUD)


def _show_plan(prepared: Prepared, *, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.cli.plan_table import plan_as_json, print_plan

    if json:
        print_json(plan_as_json(prepared))
    else:
        print_plan(prepared)


def _start(ctx: typer.Context, prepared: Prepared, *, json: bool) -> None:
    from evalkit.cli.asking import terminal
    from evalkit.cli.outcome import end_run, running
    from evalkit.cli.progress import live_progress
    from evalkit.project import find_project
    from evalkit.scoring.registry import find_scorers

    with running(ctx, prepared.out):
        scorers = find_scorers(find_project())
        with live_progress(total=len(prepared.plan)) as progress:
            from evalkit.engine.start import start

            asker = terminal(progress, json=json)
            if asker is None:
                _say_unattended(prepared)
            result = start(prepared, progress, asker)
        end_run(result, scorers, json=json)


def _say_unattended(prepared: Prepared) -> None:
    from evalkit.cli.console import note

    for approvals in dict.fromkeys(agent.approvals for agent in prepared.agents):
        if approvals is not None and approvals.asks:
            what = "denied" if approvals.unattended == "deny" else "allowed"
            note(f"nobody can be asked here: what the approvals {approvals.name} ask about is {what}")
