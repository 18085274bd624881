"""What is known when two runs have been compared?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit.cli.no_value import why_undefined
from evalkit.cli.summing import check_names
from evalkit.errors import UsageError
from evalkit.scoring.agent_match import AgentMatch
from evalkit.scoring.agent_settings import Change
from evalkit.scoring.difference import Difference
from evalkit.scoring.grouping import By
from evalkit.scoring.paired import Comparison, PairedCell, PairedFigure
from evalkit.scoring.scored_trials import Unit


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs, compared."""

    path_a: str
    path_b: str
    by: By | None
    match: AgentMatch
    comparisons: tuple[Comparison, ...]
    changes: tuple[tuple[Change, ...], ...]
    """How the agents of each comparison differ."""
    without_scores: tuple[str, ...]
    """Runs that have none."""

    def check(self, metrics: Sequence[str]) -> None:
        """Raise UsageError for a metric that no comparison has."""
        figures = [f for own in self.comparisons for c in own.cells for f in c.figures.values()]
        known = {name for f in figures for name in (f.name, f.quantity.name)}
        for name in metrics:
            if name not in known:
                self._refuse_one_sided(name)
        check_names(metrics, known, without_scores=self.without_scores)

    def _refuse_one_sided(self, name: str) -> None:
        for own in self.comparisons:
            if name in own.other_reference:
                raise UsageError(f"{name} is not compared, as A and B rest on different reference costs")
            for side, names, other in (("A", own.only_a, self.path_b), ("B", own.only_b, self.path_a)):
                if name in names:
                    raise UsageError(
                        f"only {side} has scores of {name!r}", hint=f"evalkit score {shlex.quote(other)}"
                    )

    def same_trials(self, own: Comparison) -> bool:
        """Whether an agent of a run is compared with itself."""
        return (own.agent_a, self.path_a) == (own.agent_b, self.path_b)


def wanted_figures(own: PairedCell, metrics: Sequence[str]) -> Iterator[PairedFigure]:
    """The numbers that these metrics give; all, for none."""
    for figure in own.figures.values():
        if not metrics or figure.name in metrics or figure.quantity.name in metrics:
            yield figure


def is_apart(told: Difference) -> bool:
    """Whether the interval leaves 0 out, so that these tasks tell A and B apart."""
    return told.low is not None and told.high is not None and not told.low <= 0 <= told.high


def is_up(told: Difference) -> bool:
    """Whether B has more."""
    return told.value is not None and told.value > 0


def why_null(own: PairedCell, figure: PairedFigure) -> str | None:
    """Why A, B or both have no value; None where both have one."""
    told = figure.difference
    if told.a is not None and told.b is not None:
        return None
    for side, unscored, trials in (("A", own.unscored_a, own.trials_a), ("B", own.unscored_b, own.trials_b)):
        if unscored == trials:
            return f"all trials of {side} are unscored"
    return why_undefined(figure.quantity, tasks=told.n)


def unit_text(unit: Unit) -> str:
    """A task by its name, with the fault if there is one."""
    suite, task, variant = unit
    return f"{suite}/{task}" if variant == "clean" else f"{suite}/{task} ({variant})"
