"""What are the metrics of a run for programs?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit.cli.no_value import why_no_value
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.summary import Cell, Figure


def metrics_as_json(cells: Sequence[Cell]) -> dict[str, object]:
    """The metrics of one agent's arms: `metrics` of the clean arm, and `faulted` and `twin` where there are such."""
    told = {cell.arm: _figures_as_json(cell) for cell in cells}
    others = {arm: told[arm] for arm in ("faulted", "twin") if arm in told}
    return {"metrics": told.get("clean", {}), **others}


def groups_as_json(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """One agent's groups."""
    names = sorted({cell.group or "" for cell in cells})
    own = {name: [cell for cell in cells if cell.group == name] for name in names}
    return [
        {
            "group": name,
            "trials": sum(cell.trials for cell in own[name]),
            "unscored": sum(cell.unscored for cell in own[name]),
            **metrics_as_json(own[name]),
        }
        for name in names
    ]


def declarations_as_json(quantities: Mapping[str, Quantity]) -> dict[str, object]:
    """What each number means, by its name."""
    return {
        name: {
            "scorer": quantity.scorer,
            "declared": quantity.metric is not None,
            "meaning": quantity.meaning,
            "unit": quantity.unit,
            "better": quantity.better,
        }
        for name, quantity in quantities.items()
    }


def _figures_as_json(own: Cell) -> dict[str, object]:
    figures = {name: _figure_as_json(own, name, figure) for name, figure in own.figures.items()}
    return dict(sorted(figures.items(), key=lambda item: item[0] != "pass^1"))


def _figure_as_json(own: Cell, name: str, figure: Figure) -> dict[str, object]:
    estimate = figure.estimate
    return {
        "value": estimate.value,
        "n": estimate.n,
        "low": estimate.low,
        "high": estimate.high,
        "trials": estimate.trials,
        "unknown": estimate.unknown,
        "why_null": why_no_value(own, figure.quantity, name),
    }
