"""What can `evalkit run` be told?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.engine.prepare import RunFlags
    from evalkit.trajectory.manifest import Json

MIN_SECONDS, MAX_SECONDS = 0.001, 1e9
MAX_DOLLARS = 1e9


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of the command, in the order of its help; None is said nothing of."""

    suites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE", help="Suites by name or path, or inspect:FILE.py@task, inspect:package/task."
        ),
    ] = None
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", metavar="MODEL,...", help="Models, separated by commas. [scripted/oracle]"
        ),
    ] = None
    thinking: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BUDGET,...", help="Thinking budgets, separated by commas; one agent each. [default]"
        ),
    ] = None
    thinking_nearest: Annotated[
        bool | None,
        typer.Option(
            "--thinking-nearest/--no-thinking-nearest",
            help="Take the nearest budget where a model does not have the one asked for. [refuse]",
        ),
    ] = None
    epochs: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Attempts at every task. [as the suite says]")
    ] = None
    sandbox: Annotated[str | None, typer.Option(help="Where tasks run. [local]")] = None
    out: Annotated[Path | None, typer.Option(help="Folder of the run. [runs/<time>-<suite>]")] = None
    task: Annotated[
        str | None,
        typer.Option(help="Only tasks whose id matches this pattern; with ! before it, all others."),
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")] = None
    loop: Annotated[
        str | None,
        typer.Option(
            metavar="LOOP",
            help="react, FILE.py@solver or package/solver of Inspect's. [react; Inspect tasks: their own]",
        ),
    ] = None
    task_arguments: Annotated[
        list[str] | None,
        typer.Option(
            "-T", metavar="KEY=VALUE", help="What an Inspect task is made with; may be given often."
        ),
    ] = None
    tools: Annotated[Path | None, typer.Option(help="Tool settings, a TOML file.")] = None
    approvals: Annotated[
        Path | None, typer.Option(help="Which tool calls may run, a TOML file of rules. [all may]")
    ] = None
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN.toml|none", help="Faults beside the tasks' own, or none at all. [the tasks' own]"
        ),
    ] = None
    effects: Annotated[
        bool | None,
        typer.Option("--effects/--no-effects", help="Measure what trials change for good. [--effects]"),
    ] = None
    twins: Annotated[
        bool | None,
        typer.Option("--twins/--no-twins", help="Run tasks' impossible twins, too. [--twins]"),
    ] = None
    checkpoints: Annotated[
        bool | None,
        typer.Option(
            "--checkpoints/--no-checkpoints",
            help="Grade states of the work on the way, copied while the agent works. [--no-checkpoints]",
        ),
    ] = None
    checkpoint_stride: Annotated[
        int | None, typer.Option(min=1, help="Copy after every so many-th call that changed files. [1]")
    ] = None
    checkpoint_budget: Annotated[
        int | None, typer.Option(min=0, help="States graded per trial; others are only stored. [20]")
    ] = None
    step_limit: Annotated[int | None, typer.Option(min=1, help="Model generations per trial.")] = None
    token_limit: Annotated[int | None, typer.Option(min=1, help="Tokens per trial, in and out.")] = None
    time_limit: Annotated[
        float | None,
        typer.Option(parser=_seconds, metavar="<seconds>", help="Seconds of the agent per trial."),
    ] = None
    cost_limit: Annotated[
        float | None,
        typer.Option(parser=_dollars, metavar="<$>", help="Dollars of the whole run. [unbounded]"),
    ] = None
    trial_cost_limit: Annotated[
        float | None, typer.Option(parser=_dollars, metavar="<$>", help="Dollars of each trial. [unbounded]")
    ] = None
    max_trials: Annotated[
        int | None, typer.Option(min=1, help="Trials at the same time. [as many as the machine takes]")
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(metavar="<url>", help="Where models are asked, such as http://127.0.0.1:8000/v1."),
    ] = None
    temperature: Annotated[
        float | None, typer.Option(min=0, max=100, help="Sent to the model. [not sent]")
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=-(2**63), max=2**63 - 1, help="Sent to the model. [not sent]")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of one generation, thinking included. [not sent]")
    ] = None

    def flags(self) -> RunFlags:
        """What they ask for. Raises UsageError for what cannot be meant."""
        from evalkit.cli.splitting import split
        from evalkit.engine.prepare import RunFlags

        return RunFlags(
            suites=tuple(self.suites or ()),
            models=split(self.model, "--model"),
            thinking=split(self.thinking, "--thinking"),
            thinking_nearest=self.thinking_nearest,
            epochs=self.epochs,
            sandbox=self.sandbox,
            out=self.out,
            task=self.task,
            limit=self.limit,
            tools=self.tools,
            step_limit=self.step_limit,
            token_limit=self.token_limit,
            time_limit_s=self.time_limit,
            cost_limit=self.cost_limit,
            trial_cost_limit=self.trial_cost_limit,
            max_trials=self.max_trials,
            base_url=self.base_url,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            loop=self.loop,
            approvals=self.approvals,
            faults=self.faults,
            effects=self.effects,
            twins=self.twins,
            checkpoints=self.checkpoints,
            checkpoint_stride=self.checkpoint_stride,
            checkpoint_budget=self.checkpoint_budget,
            task_arguments=_arguments(self.task_arguments),
        )


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
