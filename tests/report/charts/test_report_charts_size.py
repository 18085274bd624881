"""How large do drawings become?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalkit.report.board import Board
from evalkit.report.charts.groups import groups
from evalkit.report.charts.heatmap import heatmap
from evalkit.report.charts.recovery import recovery
from evalkit.report.charts.retention import retention
from evalkit.report.charts.scatter import scatter
from evalkit.report.charts.solved_within import solved_within


@pytest.mark.slow
def test_fifty_agents_at_two_hundred_tasks_stay_about_a_megabyte(grid: Callable[[int, int], Board]) -> None:
    board = grid(50, 200)
    sizes = {
        draw.__name__: len(draw(board).encode()) // 1000
        for draw in (scatter, heatmap, retention, recovery, solved_within)
    }
    sizes |= {by: len(groups(board, by).encode()) // 1000 for by in ("skill", "difficulty")}
    assert sizes["heatmap"] < 750
    assert sum(sizes.values()) - sizes["heatmap"] < 280
