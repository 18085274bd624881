"""What does each agent's line of a run say?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.text import Text

from evalkit.cli.console import stdout
from evalkit.cli.prose import INDENT, one_line
from evalkit.cli.text_table import Column, print_columns
from evalkit.scoring.arm import ARMS, Arm, arm_of
from evalkit.scoring.figure_text import number_text
from evalkit.scoring.summary import natural
from evalkit.trajectory.trial import Trial


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent's trials in one arm."""

    agent: str
    arm: Arm
    trials: int
    passed: int
    failed: int
    unscored: int
    pass_1: float | None
    """None where nothing is scored, and for impossible twins, which nobody can pass."""
    tool_calls: float | None
    output_tokens: float | None
    agent_s: float | None
    known_usd: float | None
    """The sum of what is known; None where nothing is."""
    cost_is_whole: bool
    """Whether every trial's cost is known, so that the sum is no lower bound."""


def agent_rows(trials: Sequence[Trial]) -> tuple[AgentRow, ...]:
    """Summarise each agent's trials, arm by arm, in order of agent id."""
    found: defaultdict[tuple[str, Arm], list[Trial]] = defaultdict(list)
    for trial in trials:
        found[trial.agent, arm_of(trial.variant)].append(trial)
    keys = sorted(found, key=lambda key: (natural(key[0]), ARMS.index(key[1])))
    return tuple(_row(agent, arm, found[agent, arm]) for agent, arm in keys)


def print_agents(rows: Sequence[AgentRow]) -> None:
    """A line for each agent; where there are arms one for each, so that no count mixes them."""
    with_arms = {row.arm for row in rows} - {"clean"}
    names: list[Text] = []
    shown: list[AgentRow | None] = []
    for place, row in enumerate(rows):
        if with_arms and (place == 0 or rows[place - 1].agent != row.agent):
            names.append(Text(one_line(row.agent)))
            shown.append(None)
        names.append(Text(INDENT + row.arm if with_arms else one_line(row.agent)))
        shown.append(row)
    columns = [
        Column(heading, [Text("" if row is None else told(row)) for row in shown])
        for heading, told in _columns(rows).items()
    ]
    print_columns(stdout(), "agent", names, [columns])


def arm_as_json(row: AgentRow) -> dict[str, object]:
    """The line for programs."""
    return {
        "trials": row.trials,
        "passed": row.passed,
        "failed": row.failed,
        "unscored": row.unscored,
        "pass^1": row.pass_1,
        "tool_calls": row.tool_calls,
        "output_tokens": row.output_tokens,
        "agent_s": row.agent_s,
        "known_cost_usd": row.known_usd,
        "cost_is_whole": row.cost_is_whole,
    }


def _columns(rows: Sequence[AgentRow]) -> dict[str, Callable[[AgentRow], str]]:
    columns: dict[str, Callable[[AgentRow], str]] = {
        "pass^1": lambda row: number_text(row.pass_1),
        "passed": lambda row: str(row.passed),
        "failed": lambda row: str(row.failed),
        "unscored": lambda row: str(row.unscored),
        "calls": lambda row: number(row.tool_calls, ".1f"),
        "tokens": lambda row: number(row.output_tokens, ".0f"),
        "seconds": lambda row: number(row.agent_s, ".2f"),
    }
    if any(row.known_usd is not None for row in rows):
        columns["cost"] = _dollars
    return columns


def _pass_1(outcomes: Mapping[tuple[str, str, str], Sequence[bool]]) -> float | None:
    """The mean over epochs, then a task's faults, then tasks; None where nothing is scored."""
    tasks: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for (suite, task_id, _), own in outcomes.items():
        tasks[suite, task_id].append(fmean(own))
    return fmean(map(fmean, tasks.values())) if tasks else None


def _row(agent: str, arm: Arm, trials: Sequence[Trial]) -> AgentRow:
    outcomes: defaultdict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for trial in trials:
        if trial.status != "unscored" and arm != "twin":
            outcomes[trial.suite, trial.task_id, trial.variant].append(trial.status == "passed")
    return AgentRow(
        agent=agent,
        arm=arm,
        trials=len(trials),
        passed=sum(trial.status == "passed" for trial in trials),
        failed=sum(trial.status == "failed" for trial in trials),
        unscored=sum(trial.status == "unscored" for trial in trials),
        pass_1=_pass_1(outcomes),
        tool_calls=_mean(trial.tool_calls for trial in trials),
        output_tokens=_mean(trial.output_tokens for trial in trials),
        agent_s=_mean(trial.agent_s for trial in trials),
        known_usd=total(trial.cost_usd for trial in trials),
        cost_is_whole=all(trial.cost_usd is not None for trial in trials),
    )


def total(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def number(value: float | None, form: str) -> str:
    """The number; `-` for none."""
    return "-" if value is None else format(value, form)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _dollars(row: AgentRow) -> str:
    """The whole arm's cost; what is known of it is marked as the lower bound that it is."""
    if row.known_usd is None:
        return "-"
    return f"{'' if row.cost_is_whole else '>='}${row.known_usd:.4f}"
