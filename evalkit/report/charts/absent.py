"""Why is there nothing to draw?"""

from __future__ import annotations

from evalkit.report.board import Board
from evalkit.report.charts.success import success_in
from evalkit.scoring.arm import arm_of

_NO_TRIALS = "There are no trials."
_NO_VERDICT = "No trial without faults has a verdict, so no success is known."


def no_cost(board: Board) -> str:
    """Where no agent has both success and a cost or a time."""
    return _first(board) or "Neither costs nor times are known."


def no_budgets(board: Board) -> str:
    """Where no tokens of a success are known."""
    return (
        _first(board) or "No agent ran at several levels of thinking, and no tokens of a success are known."
    )


def no_tasks(board: Board) -> str:
    """Where no agent passed or failed a task."""
    return _first(board) or "No task has a verdict."


def no_groups(board: Board) -> str:
    """Where no group has two tasks with a verdict."""
    if first := _first(board):
        return first
    if not board.groups:
        return "No task names a skill or a difficulty."
    return f"No {' and no '.join(sorted(board.groups))} has two tasks with a verdict."


def no_recovery(board: Board) -> str:
    """Where nothing is known of success under faults, nor of failures that were put right."""
    if not board.scored.trials:
        return _NO_TRIALS
    if not _faulted(board):
        return "No faults were injected, and of no failure is it known whether it was put right."
    return "No trial under faults has a verdict, and of no failure is it known whether it was put right."


def _faulted(board: Board) -> bool:
    return any(arm_of(trial.variant) == "faulted" for trial in board.scored.trials)


def _first(board: Board) -> str | None:
    if not board.scored.trials:
        return _NO_TRIALS
    return None if any(success_in(row) is not None for row in board.rows) else _NO_VERDICT
