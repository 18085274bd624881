"""Which gate policy does a new project start with?

One with the smallest margin that its few tasks can hold at all: a smaller one would look strict, and never pass.
"""

from __future__ import annotations

import math

FEWEST_TASKS = 2
"""Of one task nothing can be told about others; a gate policy takes no fewer."""

_POLICY = """\
# What `evalkit gate` accepts; docs/gate.md of evalkit explains every key.
#
# How small a margin can be depends on how many tasks there are. {n} tasks that all agree rule out, with 95 %, a drop
# of {points} points and no smaller one: that is the smallest margin that they can pass, and it stands here.{alone}
# A margin of 10 points needs {for_10} tasks that all agree, one of 5 points {for_5}. More are needed where an agent
# does not always do the same: `evalkit power --tasks {for_10} --margin 10pp` tells. As the suite grows, lower max_drop
# and raise min_tasks.
[metrics]
success = {{ max_drop = "{points}pp" }}

[validity]
min_tasks = {n}  # fewer decide nothing
max_unscored = "5%"  # of an agent's trials; with more nothing is compared
"""
_ALONE = """
# With its one task the gate stays inconclusive, which ends with 0 and a warning, until you add another."""


def gate_policy(tasks: int) -> str:
    """The text of a gate policy for a suite of so many tasks."""
    from evalkit.stats.lower_bound import tasks_needed

    n = max(FEWEST_TASKS, tasks)
    return _POLICY.format(
        n=n,
        points=smallest_points(n),
        alone=_ALONE if tasks < FEWEST_TASKS else "",
        for_10=tasks_needed(0.1),
        for_5=tasks_needed(0.05),
    )


def smallest_points(tasks: int) -> int:
    """The smallest margin, in whole points, that so many tasks pass where all agree: above 1 - 0.05^(1/n)."""
    from evalkit.stats.lower_bound import SHARE

    return math.floor(100 * (1 - SHARE ** (1 / tasks))) + 1
