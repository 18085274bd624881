"""`evalkit run`: run suites, and keep every step."""

from __future__ import annotations

import math
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.engine.prepare import Prepared
    from evalkit.trajectory.manifest import Json

MIN_SECONDS, MAX_SECONDS = 0.001, 1e9
MAX_DOLLARS = 1e9
LOUD = (
    "No --model was given: running scripted/oracle, which plays each task's own solution. No model is tested."
)


def _seconds(given: str) -> float:
    """A time limit. Raises BadParameter for what is none: not a number compares with no bound."""
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise typer.BadParameter(
            f"{given!r} is no number of seconds"
            if math.isnan(seconds)
            else f"{given} is not between {MIN_SECONDS:g} and {MAX_SECONDS:,.0f} seconds"
        )
    return seconds


def _dollars(given: str) -> float:
    """A cost limit. Raises BadParameter for what is none."""
    try:
        dollars = float(given.removeprefix("$"))
    except ValueError:
        dollars = math.nan
    if not 0 < dollars <= MAX_DOLLARS:
        raise typer.BadParameter(f"{given!r} is no number of dollars above 0")
    return dollars


Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SUITE", help="Suites by name or path, or inspect:FILE.py@task, inspect:package/task."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", metavar="MODEL,...", help="Models, separated by commas. [scripted/oracle]"),
]
Budgets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BUDGET,...", help="Thinking budgets, separated by commas; one agent each. [default]"
    ),
]
Nearest = Annotated[
    bool | None,
    typer.Option(
        "--thinking-nearest/--no-thinking-nearest",
        help="Take the nearest budget where a model does not have the one asked for. [refuse]",
    ),
]
Pattern = Annotated[
    str | None, typer.Option(help="Only tasks whose id matches this pattern; with ! before it, all others.")
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("-T", metavar="KEY=VALUE", help="What an Inspect task is made with; may be given often."),
]
Loop = Annotated[
    str | None,
    typer.Option(
        metavar="LOOP",
        help="react, FILE.py@solver or package/solver of Inspect's. [react; Inspect tasks: their own]",
    ),
]
Faults = Annotated[
    str | None,
    typer.Option(
        metavar="PLAN.toml|none", help="Faults beside the tasks' own, or none at all. [the tasks' own]"
    ),
]
Rules = Annotated[Path | None, typer.Option(help="Which tool calls may run, a TOML file of rules. [all may]")]
Effects = Annotated[
    bool | None,
    typer.Option("--effects/--no-effects", help="Measure what trials change for good. [--effects]"),
]
Twins = Annotated[
    bool | None,
    typer.Option("--twins/--no-twins", help="Run tasks' impossible twins, too. [--twins]"),
]
Checkpoints = Annotated[
    bool | None,
    typer.Option(
        "--checkpoints/--no-checkpoints",
        help="Grade states of the work on the way, copied while the agent works. [--no-checkpoints]",
    ),
]
Stride = Annotated[
    int | None, typer.Option(min=1, help="Copy after every so many-th call that changed files. [1]")
]
Budget = Annotated[
    int | None, typer.Option(min=0, help="States graded per trial; others are only stored. [20]")
]
Seconds = Annotated[
    float | None, typer.Option(parser=_seconds, metavar="<seconds>", help="Seconds of the agent per trial.")
]


Dollars = Annotated[
    float | None, typer.Option(parser=_dollars, metavar="<$>", help="Dollars of the whole run. [unbounded]")
]
TrialDollars = Annotated[
    float | None, typer.Option(parser=_dollars, metavar="<$>", help="Dollars of each trial. [unbounded]")
]
Address = Annotated[
    str | None,
    typer.Option(metavar="<url>", help="Where models are asked, such as http://127.0.0.1:8000/v1."),
]
Epochs = Annotated[
    int | None, typer.Option(min=1, max=100_000, help="Attempts at every task. [as the suite says]")
]
AtOnce = Annotated[
    int | None, typer.Option(min=1, help="Trials at the same time. [as many as the machine takes]")
]
Most = Annotated[
    int | None, typer.Option(min=1, help="Tokens of one generation, thinking included. [not sent]")
]
Seed = Annotated[int | None, typer.Option(min=-(2**63), max=2**63 - 1, help="Sent to the model. [not sent]")]
Temperature = Annotated[float | None, typer.Option(min=0, max=100, help="Sent to the model. [not sent]")]


def run(
    ctx: typer.Context,
    suites: Suites = None,
    model: Models = None,
    thinking: Budgets = None,
    thinking_nearest: Nearest = None,
    epochs: Epochs = None,
    sandbox: Annotated[str | None, typer.Option(help="Where tasks run. [local]")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run. [runs/<time>-<suite>]")] = None,
    task: Pattern = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")] = None,
    loop: Loop = None,
    task_arguments: Arguments = None,
    tools: Annotated[Path | None, typer.Option(help="Tool settings, a TOML file.")] = None,
    approvals: Rules = None,
    faults: Faults = None,
    effects: Effects = None,
    twins: Twins = None,
    checkpoints: Checkpoints = None,
    checkpoint_stride: Stride = None,
    checkpoint_budget: Budget = None,
    step_limit: Annotated[int | None, typer.Option(min=1, help="Model generations per trial.")] = None,
    token_limit: Annotated[int | None, typer.Option(min=1, help="Tokens per trial, in and out.")] = None,
    time_limit: Seconds = None,
    cost_limit: Dollars = None,
    trial_cost_limit: TrialDollars = None,
    max_trials: AtOnce = None,
    base_url: Address = None,
    temperature: Temperature = None,
    seed: Seed = None,
    max_tokens: Most = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run suites in sandboxes and record every step."""
    from evalkit.cli.splitting import split
    from evalkit.engine.prepare import RunFlags, prepare

    flags = RunFlags(
        suites=tuple(suites or ()),
        models=split(model, "--model"),
        thinking=split(thinking, "--thinking"),
        thinking_nearest=thinking_nearest,
        epochs=epochs,
        sandbox=sandbox,
        out=out,
        task=task,
        limit=limit,
        tools=tools,
        step_limit=step_limit,
        token_limit=token_limit,
        time_limit_s=time_limit,
        cost_limit=cost_limit,
        trial_cost_limit=trial_cost_limit,
        max_trials=max_trials,
        base_url=base_url,
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
        loop=loop,
        approvals=approvals,
        faults=faults,
        effects=effects,
        twins=twins,
        checkpoints=checkpoints,
        checkpoint_stride=checkpoint_stride,
        checkpoint_budget=checkpoint_budget,
        task_arguments=_arguments(task_arguments),
    )
    _go(ctx, prepare(flags), dry_run=dry_run, json=json)


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


def _arguments(given: list[str] | None) -> dict[str, Json]:
    """Values are read as JSON where they are JSON, else as text."""
    found: dict[str, Json] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"-T {text} gives no value", hint="Write -T key=value.")
        if name.strip() in found:
            raise UsageError(f"-T gives {name.strip()} twice", hint="Give each argument once.")
        try:
            found[name.strip()] = loads(value)
        except ValueError:
            found[name.strip()] = value
    return found
