"""What are sweeps over levels of thinking, and what is advised, for programs?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from evalkit.measures.standing import Standing
from evalkit.scoring.routed import Routed
from evalkit.scoring.sweep import SweptLevel, ThinkingSweep


def sweeps_as_json(found: Sequence[ThinkingSweep]) -> list[dict[str, object]]:
    """A list, one for each agent with several levels of thinking."""
    return [
        {
            "agent": own.family,
            "tasks": len(own.curve.tasks),
            "tasks_left_out": own.tasks_left_out,
            "agents_left_out": list(own.left_out),
            "in_order_asked": own.in_order_asked,
            "margin": own.curve.margin,
            "sufficient": None if own.enough is None else own.enough.asked,
            "best": own.levels[own.curve.best].asked,
            "inverse_scaling": own.curve.inverse,
            "solved_by_none": own.curve.solved_by_none,
            "levels": [_level(level) for level in own.levels],
        }
        for own in found
    ]


def routing_as_json(found: Sequence[Routed]) -> list[dict[str, object]]:
    """A list, one for each group of tasks that there is a choice of agents for."""
    return [
        {
            "by": own.by,
            "group": own.group,
            "basis": own.basis,
            "among": list(own.among),
            "n": own.advice.n,
            "agent": own.advice.agent,
            "best": own.advice.best,
            "silence": own.advice.silence,
            "cost": own.advice.cost,
            "best_cost": own.advice.best_cost,
            "success": own.advice.success,
            "low": None if own.interval is None else own.interval.low,
            "high": None if own.interval is None else own.interval.high,
            "best_success": own.advice.best_success,
            "standing": None if own.advice.standing is None else _standing(own.advice.standing),
            "is_cheapest": own.advice.is_cheapest,
            "worse": list(own.advice.worse),
        }
        for own in found
    ]


def _level(level: SweptLevel) -> dict[str, object]:
    result = level.result
    return {
        "agent": level.agent,
        "asked": level.asked,
        "taken": level.taken,
        "sent": list(level.sent),
        "trials": level.trials,
        "broken": level.broken,
        "judged": level.judged,
        "tokens": result.tokens,
        "success": result.success,
        "low": level.estimate.low,
        "high": level.estimate.high,
        "marginal_return": result.marginal,
        "excess": result.excess,
        "thinking_tax": result.tax,
        "unsolved_spend": result.unsolved_spend,
        "lost_below": list(result.lost),
        "adherence": level.adherence,
        "overshoot": level.overshoot,
        "standing": _standing(result.standing),
    }


def _standing(standing: Standing) -> dict[str, object]:
    return dataclasses.asdict(standing)
