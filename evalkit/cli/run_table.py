"""What does a run look like as a table, and as JSON?"""

from __future__ import annotations

import os
import shlex
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.cli.metric_table import groups_as_json, metrics_as_json, print_metrics, undeclared
from evalkit.cli.summing import only, run_scores, run_summary
from evalkit.errors import EvalkitError
from evalkit.measures.success import pass_hat_k
from evalkit.measures.unfired_fault import why_unfired
from evalkit.scoring.arm import arm_of
from evalkit.scoring.grouping import By
from evalkit.scoring.summary import Summary, summarise
from evalkit.trajectory.locate import is_remote
from evalkit.trajectory.owner import read_owner
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent's line."""

    agent: str
    trials: int
    passed: int
    failed: int
    unscored: int
    tasks: int
    """Tasks with at least one scored trial without faults: what pass^1 rests on."""
    pass_1: float | None
    tool_calls: float | None
    output_tokens: float | None
    agent_s: float | None
    known_usd: float | None
    """The sum of what is known; None where nothing is."""
    cost_is_whole: bool
    """Whether every trial's cost is known, so that the sum is no lower bound."""


def agent_rows(trials: Sequence[Trial]) -> tuple[AgentRow, ...]:
    """Summarise each agent's trials, in order of agent id."""
    by_agent: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_agent[trial.agent].append(trial)
    return tuple(_agent_row(agent, own) for agent, own in sorted(by_agent.items()))


def run_as_json(run: Run, *, by: By | None = None) -> dict[str, object]:
    """The run for programs: `{"agents": [{"agent": id, "metrics": {"pass^1": {...}}}]}` and its trials.

    With `by`, each agent has `groups`, too.
    """
    trials = _trials(run)
    scored, declared = run_scores(run)
    summary = summarise(scored, declared)
    groups = None if by is None else summarise(scored, declared, by=by)
    return {
        "run": str(run.path),
        "planned": len(run.manifest.planned) or None,
        "missing": _missing(run, trials),
        "agents": [
            {
                "agent": row.agent,
                **metrics_as_json([own for own in summary.cells if own.agent == row.agent]),
                "passed": row.passed,
                "failed": row.failed,
                "unscored": row.unscored,
                "cost_usd": row.known_usd if row.cost_is_whole else None,
                **_groups(groups, row.agent),
            }
            for row in agent_rows(trials)
        ],
        "scorers": list(summary.scorers),
        "undeclared": undeclared(summary),
        "unfired_faults": [
            {"trial": trial, "reason": reason}
            for reason, alike in _unfired(run, trials).items()
            for trial in alike
        ],
        "trials": [_trial_as_json(trial) for trial in trials],
    }


def _groups(groups: Summary | None, agent: str) -> dict[str, object]:
    if groups is None:
        return {}
    return {"groups": groups_as_json([own for own in groups.cells if own.agent == agent])}


def print_run(run: Run, *, by: By | None = None, metrics: Sequence[str] = ()) -> None:
    """Print the agents' table, the table of all or these metrics, and the trials' table."""
    trials = _trials(run)
    console = stdout()
    _print_table(_agents_table(agent_rows(trials)))
    console.print()
    print_metrics(run, only(run_summary(run, by=by), metrics))
    console.print()
    _print_table(_trials_table(trials[:MAX_ROWS]))
    if len(trials) > MAX_ROWS:
        more = f"... and {len(trials) - MAX_ROWS} more trials: evalkit show {run.path} --json"
        console.print(more, markup=False, soft_wrap=True)
    if missing := _missing(run, trials):
        text = f"{missing} of {len(run.manifest.planned)} planned trials have no row: {_why_missing(run)}"
        console.print(text, markup=False, soft_wrap=True)
    if told := sorted({trial.agent for trial in trials if trial.depth == "events"}):
        text = f"depth events: steps are what Inspect's events tell, not our own loop's record, of {', '.join(told)}"
        console.print(printable(text), markup=False, soft_wrap=True)
    for text in unfired_faults(run, trials):
        console.print(printable(text), markup=False, soft_wrap=True)
    for text in _why_unscored(trials):
        console.print(text, markup=False, soft_wrap=True)
    if trials:
        line = (
            f"Every step of a trial: evalkit show {shlex.quote(run.path)} {shlex.quote(trials[0].trial_id)}"
        )
        console.print(f"\n{printable(line)}", markup=False, soft_wrap=True)


def unfired_faults(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each kind of reason that a planned fault did not fire for; nothing where all did."""
    planned = sum(trial.faults_planned or 0 for trial in trials)
    reasons = _unfired(run, trials)
    if not reasons:
        return
    yield f"warning: {sum(map(len, reasons.values()))} of {planned} faults did not fire:"
    for reason, alike in reasons.items():
        which = alike[0] if len(alike) == 1 else f"{len(alike)} trials, such as {alike[0]}"
        yield f"  {which}: {reason}"


def _unfired(run: Run, trials: Sequence[Trial]) -> dict[str, list[str]]:
    """The trials whose fault did not fire, by the reason."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for trial in trials:
        if (trial.faults_planned or 0) > (trial.faults_fired or 0):
            reasons[why_unfired(run.trial(trial.trial_id)[1])].append(trial.trial_id)
    return reasons


def _why_unscored(trials: Sequence[Trial]) -> Iterator[str]:
    """Each reason once, however many trials it has kept from being scored."""
    reasons: defaultdict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.status == "unscored":
            line = printable((trial.error_message or "unknown reason").splitlines()[0])
            reasons[trial.error_origin or "unknown origin", line].append(trial)
    for (origin, line), alike in reasons.items():
        which = alike[0].trial_id if len(alike) == 1 else f"{len(alike)} trials, such as {alike[0].trial_id}"
        yield f"unscored {which} ({origin}): {line}"


def _print_table(table: Table) -> None:
    """Print a table whose last column holds ids: they are never broken, so that they can be copied."""
    console = stdout()
    console.width = max(console.width, Console(width=100_000, emoji=False).measure(table).maximum)
    console.print(table)


def _missing(run: Run, trials: Sequence[Trial]) -> int:
    """How many planned rows have no trial; 0 for a run without a plan, such as an imported one."""
    there = {(t.suite, t.task_id, t.variant, t.epoch, t.agent) for t in trials}
    rows = {(row.suite, row.task_id, row.variant, row.epoch, row.agent) for row in run.manifest.planned}
    return len(rows - there)


def _why_missing(run: Run) -> str:
    """Whether somebody still writes the run; of a remote one that is not known."""
    if is_remote(run.path):
        return "not begun, or still running"
    try:
        owner = read_owner(Path(run.path))
    except EvalkitError:  # what is in its place is no file that a run has; the rows are shown all the same
        owner = None
    if owner is None or owner.pid == os.getpid() or not owner.is_alive():
        return f"the run was cut short; go on with: evalkit resume {shlex.quote(run.path)}"
    elsewhere = "" if owner.host == socket.gethostname() else f" on {owner.host}"
    return f"the run is still being run by process {owner.pid}{elsewhere}"


def _trials(run: Run) -> list[Trial]:
    return sorted(run.rows(), key=lambda t: (t.suite, t.task_id, t.variant, t.agent, t.epoch))


def _agent_row(agent: str, trials: Sequence[Trial]) -> AgentRow:
    outcomes: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        if trial.status != "unscored" and arm_of(trial.variant) == "clean":
            outcomes[f"{trial.suite}/{trial.task_id}"].append(trial.status == "passed")
    return AgentRow(
        agent=agent,
        trials=len(trials),
        passed=sum(trial.status == "passed" for trial in trials),
        failed=sum(trial.status == "failed" for trial in trials),
        unscored=sum(trial.status == "unscored" for trial in trials),
        tasks=len(outcomes),
        pass_1=pass_hat_k(outcomes, 1),
        tool_calls=_mean(trial.tool_calls for trial in trials),
        output_tokens=_mean(trial.output_tokens for trial in trials),
        agent_s=_mean(trial.agent_s for trial in trials),
        known_usd=_sum(trial.cost_usd for trial in trials),
        cost_is_whole=all(trial.cost_usd is not None for trial in trials),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _agents_table(rows: Sequence[AgentRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    priced = any(row.known_usd is not None for row in rows)
    names = ("pass^1", "passed", "failed", "unscored", "calls", "tokens", "seconds")
    for name in (*names, *(("cost",) if priced else ())):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("agent", no_wrap=True)
    for row in rows:
        table.add_row(
            _number(row.pass_1, ".2f"),
            str(row.passed),
            str(row.failed),
            str(row.unscored),
            _number(row.tool_calls, ".1f"),
            _number(row.output_tokens, ".0f"),
            _number(row.agent_s, ".2f"),
            *((_dollars(row),) if priced else ()),
            cell(row.agent),
        )
    return table


def _dollars(row: AgentRow) -> str:
    """The whole agent's cost; what is known of it is marked as the lower bound that it is."""
    if row.known_usd is None:
        return "-"
    return f"{'' if row.cost_is_whole else '>='}${row.known_usd:.4f}"


def _trials_table(trials: Iterable[Trial]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("status", "stopped by"):
        table.add_column(name, no_wrap=True)
    for name in ("checks", "calls", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("trial", no_wrap=True)
    styles = {"passed": "green", "failed": "red", "unscored": "yellow"}
    for trial in trials:
        checks = trial.checks
        table.add_row(
            f"[{styles[trial.status]}]{trial.status}[/]",
            trial.stop_reason or "-",
            f"{sum(checks.values())}/{len(checks)}" if checks else "-",
            _number(trial.tool_calls, "d"),
            _number(trial.agent_s, ".2f"),
            cell(trial.trial_id),
        )
    return table


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _trial_as_json(trial: Trial) -> dict[str, object]:
    return {
        "trial": trial.trial_id,
        "suite": trial.suite,
        "task": trial.task_id,
        "variant": trial.variant,
        "agent": trial.agent,
        "epoch": trial.epoch,
        "attempt": trial.attempt,
        "status": trial.status,
        "reward": trial.reward,
        "checks": dict(trial.checks) if trial.checks is not None else None,
        "stop_reason": trial.stop_reason,
        "depth": trial.depth,
        "error_origin": trial.error_origin,
        "error_message": trial.error_message,
        "model_calls": trial.model_calls,
        "tool_calls": trial.tool_calls,
        "faults_planned": trial.faults_planned,
        "faults_fired": trial.faults_fired,
        "output_tokens": trial.output_tokens,
        "reasoning_tokens": trial.reasoning_tokens,
        "agent_s": trial.agent_s,
        "retry_s": trial.retry_s,
        "cost_usd": trial.cost_usd,
        "model_served": trial.model_served,
    }
