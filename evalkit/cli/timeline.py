"""What does one trial look like as a readable timeline, and as JSON?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import cast

from rich.console import Console
from rich.text import Text

from evalkit.cli.console import printable, stdout
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

LINES = 8
"""Lines of a text before it is folded; `--full` shows all."""


def print_trial(trial: Trial, steps: Sequence[Step], *, full: bool) -> None:
    """Print one trial: what it was, every step, how it was judged."""
    console = stdout()
    _head(console, trial)
    for step in steps:
        _step(console, step, None if full else LINES)
    _verdict(console, trial)


def trial_as_json(trial: Trial, steps: Sequence[Step]) -> dict[str, object]:
    """The trial and its steps for programs, every column as recorded."""
    return {
        "trial": _plain(asdict(trial)),
        "steps": [_plain({"kind": step.kind, **asdict(step)}) for step in steps],
    }


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def _head(console: Console, trial: Trial) -> None:
    _line(console, f"{trial.trial_id}", style="bold")
    _line(
        console,
        f"task {trial.suite}/{trial.task_id} ({trial.variant})  epoch {trial.epoch}  agent {trial.agent}",
    )
    place = trial.sandbox or "unknown"
    runtime = f" ({trial.sandbox_runtime})" if trial.sandbox_runtime else ""
    _line(console, f"sandbox {place}{runtime}  graded {trial.grader_mode or 'unknown'}")
    if trial.depth == "events":
        loop = "the task's own solver" if trial.agent_loop == "task" else f"the loop {trial.agent_loop}"
        _line(console, f"depth events: {loop} worked, and steps are what Inspect's events tell of it")
    clocks = {
        "queue": trial.queue_s,
        "start": trial.start_s,
        "agent": trial.agent_s,
        "model": trial.model_s,
        "tools": trial.tool_s,
        "grade": trial.grade_s,
    }
    shown = "  ".join(f"{name} {seconds:.2f} s" for name, seconds in clocks.items() if seconds is not None)
    _line(console, shown, style="dim")


def _step(console: Console, step: Step, fold: int | None) -> None:
    console.print()
    if isinstance(step, Prompt):
        _line(console, f"{step.step:>3} prompt {step.role}", style="bold blue")
        _body(console, step.text, fold)
    elif isinstance(step, Think):
        _line(console, f"{step.step:>3} think  {_tokens(step)}", style="bold magenta")
        if step.reasoning:
            _body(console, step.reasoning, fold, style="italic")
        if step.text:
            _body(console, step.text, fold)
    elif isinstance(step, Act):
        _act(console, step, fold)
    else:
        _event(console, step, fold)


def _tokens(step: Think) -> str:
    parts = {"in": step.input_tokens, "out": step.output_tokens, "thinking": step.reasoning_tokens}
    known = "  ".join(f"{name} {number}" for name, number in parts.items() if number is not None)
    return known or "tokens unknown"


def _act(console: Console, step: Act, fold: int | None) -> None:
    failed = bool(step.exit_code) or step.error_kind is not None
    marks = [f"exit {step.exit_code}"] if step.exit_code is not None else []
    marks += [step.error_kind] if step.error_kind else []
    marks += [f"{step.duration_s:.3f} s"] if step.duration_s is not None else []
    head = f"{step.step:>3} act    {step.tool}  {'  '.join(marks)}"
    _line(console, head, style="bold red" if failed else "bold green")
    if call := _call_text(step):
        _body(console, call, fold, prefix="    $ ")
    shown = step.observation if step.stdout is None else step.stdout + (step.stderr or "")
    if shown:
        _body(console, shown, fold, style="dim")
    if step.stdout_truncated or step.stderr_truncated:
        size = (step.stdout_bytes or 0) + (step.stderr_bytes or 0)
        _line(console, f"    the output was cut: {size} bytes in all", style="yellow")


def _call_text(step: Act) -> str:
    if step.arguments is None:
        return step.arguments_raw or ""
    arguments = cast("object", json.loads(step.arguments))
    if isinstance(arguments, dict):
        values = list(cast("dict[str, object]", arguments).values())
        if not values:
            return ""
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
    return step.arguments


def _event(console: Console, step: Event, fold: int | None) -> None:
    _line(console, f"{step.step:>3} event  {step.event}", style="bold yellow")
    if step.detail:
        _body(console, step.detail, fold)


def _verdict(console: Console, trial: Trial) -> None:
    console.print()
    styles = {"passed": "bold green", "failed": "bold red", "unscored": "bold yellow"}
    reward = "" if trial.reward is None else f"  reward {trial.reward:g}"
    stopped = "" if trial.stop_reason is None else f"  stopped by {trial.stop_reason}"
    _line(console, f"{trial.status}{reward}{stopped}", style=styles[trial.status])
    for name, passed in (trial.checks or {}).items():
        _line(console, f"    {'ok    ' if passed else 'FAILED'} {name}", style="green" if passed else "red")
    if trial.error_message:
        _line(console, f"    {trial.error_origin or 'unknown origin'}: {trial.error_message}", style="yellow")


def _body(console: Console, text: str, fold: int | None, *, style: str = "", prefix: str = "    ") -> None:
    lines = text.rstrip("\n").split("\n")
    kept = lines if fold is None else lines[:fold]
    for number, line in enumerate(kept):
        lead = prefix if number == 0 else " " * len(prefix)
        _line(console, f"{lead}{line if fold is None else line[:400]}", style=style)
    if len(kept) < len(lines):
        _line(console, f"    ... {len(lines) - len(kept)} more lines (--full shows them)", style="dim")


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text), style=style), soft_wrap=True)
