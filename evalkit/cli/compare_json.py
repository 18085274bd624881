"""What is a comparison of two agents for programs?"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.cli.compared import Compared, is_apart, unit_text, wanted_figures, why_null
from evalkit.cli.metric_json import declarations_as_json
from evalkit.scoring.paired import PairedCell, PairedFigure


def comparison_as_json(compared: Compared, metrics: Sequence[str]) -> dict[str, object]:
    """The comparison for programs."""
    return {
        "a": compared.path_a,
        "b": compared.path_b,
        "by": compared.by,
        "only_a": list(compared.match.only_a),
        "only_b": list(compared.match.only_b),
        "without_scores": list(compared.without_scores),
        "declared": declarations_as_json(
            {
                figure.name: figure.quantity
                for own in compared.comparisons
                for cell in own.cells
                for figure in wanted_figures(cell, metrics)
            }
        ),
        "comparisons": [
            {
                "a": own.agent_a,
                "b": own.agent_b,
                "differs": {change.setting: {"a": change.a, "b": change.b} for change in changes},
                "same_trials": compared.same_trials(own),
                "tasks": len({unit[:2] for unit in own.tasks.both}),
                "tasks_changed": [unit_text(unit) for unit in own.tasks.changed],
                "tasks_only_a": [unit_text(unit) for unit in own.tasks.only_a],
                "tasks_only_b": [unit_text(unit) for unit in own.tasks.only_b],
                "tasks_by_id_only": own.tasks.by_id,
                "suites_changed": list(own.tasks.suites),
                "metrics_only_a": list(own.only_a),
                "metrics_only_b": list(own.only_b),
                "metrics_of_other_versions": list(own.other_version),
                "metrics_of_other_references": list(own.other_reference),
                "arms": [_cell_as_json(cell, metrics) for cell in own.cells],
            }
            for own, changes in zip(compared.comparisons, compared.changes, strict=True)
        ],
    }


def _cell_as_json(own: PairedCell, metrics: Sequence[str]) -> dict[str, object]:
    return {
        "arm": own.arm,
        "group": own.group,
        "tasks": own.tasks,
        "trials_a": own.trials_a,
        "trials_b": own.trials_b,
        "unscored_a": own.unscored_a,
        "unscored_b": own.unscored_b,
        "metrics": {figure.name: _figure_as_json(own, figure) for figure in wanted_figures(own, metrics)},
    }


def _figure_as_json(own: PairedCell, figure: PairedFigure) -> dict[str, object]:
    told = figure.difference
    return {
        "a": told.a,
        "b": told.b,
        "difference": told.value,
        "low": told.low,
        "high": told.high,
        "told_apart": is_apart(told),
        "p": told.p,
        "relative": told.relative,
        "better": figure.quantity.better,
        "n": told.n,
        "higher": told.higher,
        "lower": told.lower,
        "equal": told.equal,
        "why_null": why_null(own, figure),
    }
