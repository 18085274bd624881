"""What does one trial look like as a readable timeline, and as JSON?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from rich.text import Text

from evalkit.cli.broken_lines import say_body, say_items
from evalkit.cli.console import stdout
from evalkit.cli.effect_lines import effect_marks, effects_as_json, say_unattributed
from evalkit.cli.failure_groups import call_text
from evalkit.cli.finding_lines import event_text, finding_marks, findings_as_json, say_unplaced
from evalkit.cli.prose import one_line
from evalkit.cli.step_marks import Mark, episodes_as_json, faults_as_json, marks
from evalkit.cli.thinking_lines import thinking_of
from evalkit.cli.trial_scores import TrialScore, say_scores, scores_as_json
from evalkit.scoring.facts import TaskFacts
from evalkit.scoring.trial import Trial as Judged
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

LINES = 8
"""Lines of the page that a text takes before it is folded; `--full` shows all."""


def print_trial(
    trial: Trial,
    steps: Sequence[Step],
    *,
    full: bool,
    task: TaskFacts | None = None,
    effects: Sequence[Effect] = (),
) -> None:
    """Print one trial: what it was, every step with what went wrong and was put right there and what it changed for
    good, how it was judged.
    """
    judged = Judged(row=trial, steps=tuple(steps), effects=tuple(effects), task=task or TaskFacts())
    failed = {action.step for action in judged.actions if action.failure is not None}
    at, changed, found = marks(judged), effect_marks(judged, full=full), finding_marks(judged)
    _head(trial)
    for step in steps:
        _line("")
        _step(step, None if full else LINES, failed=step.step in failed)
        for mark in (
            *found.get(step.step, ()),
            *at.get(step.step, ()),
            *changed.get(step.step, ()),
        ):
            _mark(mark)
    say_unattributed(judged, full=full)
    say_unplaced(judged)
    _verdict(trial)


def print_scores_of(scores: Sequence[TrialScore], *, full: bool, chosen: bool, run: str) -> None:
    """Print what scorers say about the trial, below it."""
    _line("")
    say_scores(scores, full=full, chosen=chosen, run=run)


def trial_as_json(
    trial: Trial,
    steps: Sequence[Step],
    *,
    task: TaskFacts | None = None,
    scores: Sequence[TrialScore] = (),
    effects: Sequence[Effect] = (),
) -> dict[str, object]:
    """The trial and its steps for programs, every column as recorded, and what is told of them."""
    judged = Judged(row=trial, steps=tuple(steps), effects=tuple(effects), task=task or TaskFacts())
    return {
        "trial": _plain(asdict(trial)),
        "steps": [_plain({"kind": step.kind, **asdict(step)}) for step in steps],
        "faults": faults_as_json(judged),
        "episodes": episodes_as_json(judged),
        "milestones": list(judged.milestones),
        "effects": effects_as_json(judged),
        "findings": findings_as_json(judged),
        "scores": scores_as_json(scores),
    }


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def _head(trial: Trial) -> None:
    say_items([trial.trial_id], style="bold")
    say_items(
        [
            f"task {trial.suite}/{trial.task_id} ({trial.variant})",
            f"epoch {trial.epoch}",
            f"agent {trial.agent}",
        ]
    )
    place = trial.sandbox or "unknown"
    runtime = f" ({trial.sandbox_runtime})" if trial.sandbox_runtime else ""
    say_items([f"sandbox {place}{runtime}", f"graded {trial.grader_mode or 'unknown'}"])
    if (thinking := thinking_of(trial)) is not None:
        say_items([thinking])
    if trial.depth == "events":
        loop = "the task's own solver" if trial.agent_loop == "task" else f"the loop {trial.agent_loop}"
        say_items(
            f"depth events: {loop} worked, and steps are what Inspect's events tell of it".split(), gap=" "
        )
    clocks = {
        "queue": trial.queue_s,
        "start": trial.start_s,
        "agent": trial.agent_s,
        "model": trial.model_s,
        "tools": trial.tool_s,
        "grade": trial.grade_s,
    }
    say_items(
        [f"{name} {seconds:.2f} s" for name, seconds in clocks.items() if seconds is not None], style="dim"
    )


def _step(step: Step, fold: int | None, *, failed: bool) -> None:
    if isinstance(step, Prompt):
        _line(f"{step.step:>3} prompt {step.role}", style="bold blue")
        say_body(step.text, fold)
    elif isinstance(step, Think):
        _line(f"{step.step:>3} think  {_tokens(step)}", style="bold magenta")
        if step.reasoning:
            say_body(step.reasoning, fold, style="italic")
        if step.text:
            say_body(step.text, fold)
    elif isinstance(step, Act):
        _act(step, fold, failed=failed)
    else:
        _line(f"{step.step:>3} event  {step.event}", style="bold yellow")
        if told := event_text(step):
            say_body(told, fold)


def _mark(mark: Mark) -> None:
    say_items([f"  ! {mark.text}"], style=f"bold {mark.style}")


def _tokens(step: Think) -> str:
    parts = {
        "in": step.input_tokens,
        "cached": step.cache_read_tokens or None,
        "out": step.output_tokens,
        "thinking": step.reasoning_tokens,
    }
    known = "  ".join(f"{name} {number}" for name, number in parts.items() if number is not None)
    return known or "tokens unknown"


def _act(step: Act, fold: int | None, *, failed: bool) -> None:
    told = [f"exit {step.exit_code}"] if step.exit_code is not None else []
    told += [step.error_kind] if step.error_kind else []
    told += [step.approval] if step.approval and step.approval != "allow" else []
    told += [f"{step.duration_s:.3f} s"] if step.duration_s is not None else []
    head = [f"{step.step:>3} act    {step.tool or 'unnamed'}", *told]
    say_items(head, style="bold red" if failed else "bold green")
    if call := call_text(step):
        say_body(call, fold, prefix="    $ ")
    shown = step.observation if step.stdout is None else step.stdout + (step.stderr or "")
    if shown:
        say_body(shown, fold, style="dim")
    if step.stdout_truncated or step.stderr_truncated:
        size = (step.stdout_bytes or 0) + (step.stderr_bytes or 0)
        _line(f"    the output was cut when it was recorded: {size:,} bytes in all", style="yellow")


def _verdict(trial: Trial) -> None:
    _line("")
    styles = {"passed": "bold green", "failed": "bold red", "unscored": "bold yellow"}
    reward = [] if trial.reward is None else [f"reward {trial.reward:g}"]
    stopped = [] if trial.stop_reason is None else [f"stopped by {trial.stop_reason}"]
    say_items([trial.status, *reward, *stopped], style=styles[trial.status])
    for name, passed in (trial.checks or {}).items():
        say_items([f"    {'ok    ' if passed else 'FAILED'} {name}"], style="green" if passed else "red")
    if trial.error_message:
        say_body(f"{trial.error_origin or 'unknown origin'}: {trial.error_message}", None, style="yellow")


def _line(text: str, style: str = "") -> None:
    stdout().print(Text(one_line(text), style=style), soft_wrap=True)
