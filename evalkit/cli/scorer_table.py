"""Which scorers are there, as a table and as JSON?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from evalkit.cli.console import cell, print_json, stdout
from evalkit.cli.prose import INDENT
from evalkit.scoring.registry import Named


def print_scorers(scorers: Sequence[Named], *, json: bool) -> None:
    """Every metric with the scorer that declares it."""
    if json:
        print_json({"scorers": [_as_json(named) for named in scorers]})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scorer, metric", no_wrap=True)
    for name in ("better", "unit", "meaning"):
        table.add_column(name)
    for named in scorers:
        table.add_row(cell(named.name))
        for metric in named.scorer.metrics:
            table.add_row(
                cell(f"{INDENT}{metric.name}"), metric.better, cell(metric.unit), cell(metric.meaning)
            )
    stdout().print(table)


def _as_json(named: Named) -> dict[str, object]:
    return {
        "scorer": named.name,
        "version": named.scorer.version,
        "source": named.source,
        "metrics": [
            {
                "metric": metric.name,
                "meaning": metric.meaning,
                "unit": metric.unit,
                "better": metric.better,
                "range": [metric.low, metric.high],
                "null_when": metric.null_when,
                "aggregation": metric.aggregation,
                "of": list(metric.of),
            }
            for metric in named.scorer.metrics
        ],
    }
