# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""What does a leaderboard say?

All of it comes from the functions that `show` and `compare` use; a page only writes it down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from evalkit.report.coverage import check_common, check_trials, notes_of, tasks_by_agent, unscored_runs
from evalkit.report.entrant import Entrant, entrants
from evalkit.report.heading import Heading, column_key, headings
from evalkit.report.shown_text import fact, name
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.joined import joined
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import Means, brought
from evalkit.scoring.quantity import PASSED, Quantity
from evalkit.scoring.ranks import Rank, frontier, ranks, success_by_task
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.summary import Cell, Summary, summarise
from evalkit.scoring.swept_trial import SweptTrial, swept_trials
from evalkit.trajectory.reader import Run

Declared = Mapping[str, Sequence[Metric]]
TAMPERED = "tamper_confirmed"
_NUMBERS = ("output_tokens", "reasoning_tokens", "cost_usd", "agent_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One agent."""

    entrant: Entrant
    rank: Rank
    cells: Mapping[str, Estimate]
    """By heading's key; what is not there has no value."""
    trials: int
    unscored: int
    passed: int
    mean_tokens: float | None
    """Output tokens of a trial without faults, as success is of those; None where none is known."""
    mean_usd: float | None
    """Of a trial without faults; None where the price of any is unknown: a mean of the others would look cheap."""
    usd_per_pass: float | None
    """The price of all trials without faults over how many passed; None where that is unknown, or nothing passed."""
    median_s: float | None
    """Of a trial without faults."""
    on_frontier: bool
    """Of success against mean tokens, or against price where all prices are known."""
    flags: int
    """Trials with confirmed tampering."""
    tasks: int = 0
    """How many it tried without faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Everything that a page shows beside trajectories."""

    runs: tuple[tuple[str, Run], ...]
    suites: Mapping[str, str | None]
    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    """The best first."""
    tasks: tuple[tuple[str, str], ...]
    """Suite and task, safe to show, the easiest first."""
    solved: Mapping[str, tuple[float | None, ...]]
    """By entrant's name, success at each task, in the order of `tasks`."""
    cost: str
    """What the frontier is drawn over: `USD` or `output tokens`."""
    groups: Mapping[str, Summary]
    """By skill and by difficulty, where tasks have any."""
    scored: ScoredTrials
    """With agents under their entrants' names."""
    notes: tuple[str, ...] = ()
    """What the numbers do not cover, in sentences that are safe to show."""
    unscored_runs: frozenset[str] = frozenset()
    """The runs, as entrants name them, that no scorer has scores of."""
    swept: tuple[SweptTrial, ...] = ()
    """Its scored trials without faults, for what is drawn over tokens."""
    same_tasks: bool = True
    """Whether all agents tried the same ones."""


def make_board(
    runs: Sequence[tuple[str, Run]],
    scored: Sequence[ScoredTrials],
    declared: Declared,
    *,
    notes: Sequence[str] = (),
) -> Board:
    """A board of several runs, with these `notes` and what else its numbers do not cover.

    Raises NotComparable where runs are of different tasks, UsageError for one without trials.
    """
    check_trials(runs, scored)
    found = entrants(runs)
    parts = [
        _renamed(part, {one.agent: one.name for one in own}) for part, own in zip(scored, found, strict=True)
    ]
    whole = joined(parts)
    tried = tasks_by_agent(whole)
    check_common(found, tried)
    summary = summarise(whole, declared)
    numbers = _numbers(runs, parts)
    successes = _successes(whole)
    places = ranks(successes, whole.units)
    rows = [
        _row(
            one,
            summary,
            numbers[one.name],
            places.get(one.name, Rank(1, len(numbers))),
            flags=_flags(whole, one.name),
            tasks=len(tried[one.name]),
        )
        for own in found
        for one in own
    ]
    rows, cost = _with_frontier(rows)
    keys = sorted({unit[:2] for unit in whole.units})
    by_task = {agent: success_by_task(own, len(keys)) for agent, own in successes.items()}
    order = sorted(range(len(keys)), key=lambda task: (-_solved(by_task, task), keys[task]))
    return Board(
        runs=tuple(runs),
        suites=_suites(runs),
        headings=headings(summary),
        rows=tuple(sorted(rows, key=_order)),
        tasks=tuple((name(keys[task][0]), name(keys[task][1])) for task in order),
        solved={agent: tuple(own[task] for task in order) for agent, own in by_task.items()},
        cost=cost,
        groups=_groups(whole, declared),
        scored=whole,
        notes=(*map(fact, notes), *notes_of(runs, scored, tried)),
        unscored_runs=unscored_runs(runs, scored),
        swept=tuple(
            trial for (_, run), part in zip(runs, parts, strict=True) for trial in swept_trials(run, part)
        ),
        same_tasks=len(set(tried.values())) < 2,
    )


def _suites(runs: Sequence[tuple[str, Run]]) -> dict[str, str | None]:
    found = [suite for _, run in runs for suite in run.manifest.suites]
    return {name(suite.name): None if suite.digest is None else name(str(suite.digest)) for suite in found}


def _renamed(part: ScoredTrials, names: Mapping[str, str]) -> ScoredTrials:
    trials = [replace(trial, agent=names[trial.agent]) for trial in part.trials]
    return ScoredTrials(trials, part.columns, part.scored_by)


def _successes(whole: ScoredTrials) -> dict[str, Means]:
    """Of each agent what it passed, without faults."""
    quantity = Quantity(None, PASSED.name, PASSED)
    found: dict[str, Means] = {}
    for agent in sorted({trial.agent for trial in whole.trials}):
        places = [
            place
            for place, trial in enumerate(whole.trials)
            if trial.agent == agent and trial.variant == "clean"
        ]
        own = brought(whole, quantity, np.array(places, dtype=np.int64))[PASSED.name]
        if isinstance(own, Means):
            found[agent] = own
    return found


@dataclass(slots=True)
class _Numbers:
    clean: list[dict[str, float | None]]
    """Of each trial without faults."""
    trials: int = 0
    passed: int = 0
    """Without faults."""
    unscored: int = 0

    def known(self, column: str) -> list[float]:
        return [value for trial in self.clean if (value := trial[column]) is not None]


def _numbers(runs: Sequence[tuple[str, Run]], parts: Sequence[ScoredTrials]) -> dict[str, _Numbers]:
    found: dict[str, _Numbers] = {}
    for (_, run), part in zip(runs, parts, strict=True):
        table = run.trials.to_table(["trial_id", *_NUMBERS])
        ids: list[str] = table.column("trial_id").to_pylist()
        columns = {column: table.column(column).to_pylist() for column in _NUMBERS}
        place_of = {trial_id: place for place, trial_id in enumerate(ids)}
        for trial in part.trials:
            own = found.setdefault(trial.agent, _Numbers([]))
            own.trials += 1
            own.unscored += trial.status == "unscored"
            if trial.variant == "clean":
                own.passed += trial.status == "passed"
                own.clean.append({column: columns[column][place_of[trial.trial_id]] for column in _NUMBERS})
    return found


def _flags(whole: ScoredTrials, agent: str) -> int:
    """How many of an agent's trials were surely tampered with, by whichever scorer tells of it."""
    own = np.array([trial.agent == agent for trial in whole.trials], dtype=np.bool_)
    told = [column.values > 0 for (_, metric), column in whole.columns.items() if metric == TAMPERED]
    return int((np.any(told, axis=0) & own).sum()) if told else 0


def _row(one: Entrant, summary: Summary, numbers: _Numbers, rank: Rank, *, flags: int, tasks: int) -> Row:
    cells = [cell for cell in summary.cells if cell.agent == one.name]
    usd = numbers.known("cost_usd")
    priced = len(usd) == len(numbers.clean)
    tokens, seconds = numbers.known("output_tokens"), numbers.known("agent_s")
    return Row(
        entrant=one,
        rank=rank,
        cells=dict(_estimates(cells)),
        trials=numbers.trials,
        unscored=numbers.unscored,
        passed=numbers.passed,
        mean_tokens=sum(tokens) / len(tokens) if tokens else None,
        mean_usd=sum(usd) / len(usd) if usd and priced else None,
        usd_per_pass=sum(usd) / numbers.passed if priced and numbers.passed else None,
        median_s=median(seconds) if seconds else None,
        on_frontier=False,
        flags=flags,
        tasks=tasks,
    )


def _estimates(cells: Sequence[Cell]) -> list[tuple[str, Estimate]]:
    return [
        (column_key(figure_name, cell.arm), figure.estimate)
        for cell in cells
        for figure_name, figure in cell.figures.items()
        if figure.estimate.value is not None
    ]


def _with_frontier(rows: list[Row]) -> tuple[list[Row], str]:
    in_usd = all(row.mean_usd is not None for row in rows) and any(row.mean_usd for row in rows)
    points = {row.entrant.name: (row.mean_usd if in_usd else row.mean_tokens, success(row)) for row in rows}
    best = frontier(points)
    return [
        replace(row, on_frontier=row.entrant.name in best) for row in rows
    ], "USD" if in_usd else "output tokens"


def success(row: Row) -> float | None:
    """Without faults; None where nothing is scored."""
    found = row.cells.get("success.clean") or row.cells.get("pass^1.clean")
    return None if found is None else found.value


def _order(row: Row) -> tuple[float, int, str]:
    value = success(row)
    return (1.0 if value is None else -value, row.rank.best, row.entrant.name)


def _solved(by_task: Mapping[str, list[float | None]], task: int) -> float:
    known = [value for own in by_task.values() if (value := own[task]) is not None]
    return sum(known) / len(known) if known else -1.0


def _groups(whole: ScoredTrials, declared: Declared) -> dict[str, Summary]:
    groups: dict[str, Summary] = {}
    has_scores = any(metric == "success" for _, metric in whole.columns)
    wanted = ("success" if has_scores else PASSED.name,)
    if any(trial.skills for trial in whole.trials):
        groups["skill"] = summarise(whole, declared, by="skill", wanted=wanted)
    if any(trial.difficulty for trial in whole.trials):
        groups["difficulty"] = summarise(whole, declared, by="difficulty", wanted=wanted)
    return groups
