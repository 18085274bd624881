"""Which numbers of a run are seen at first glance, and which are only counted?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit.cli.summing import FIRST, quantities_of
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.summary import Summary, natural

When = Literal["always", "known", "nonzero", "unlike success", "most attempts"]
"""`always`: also where it is 0, and said not to be measured where no agent has a value. `known`: where some agent has a
value. `nonzero`: where some agent has another value than 0. `unlike success`: where it tells something else than the
success does. `most attempts`: of a curve over attempts, the point of the most of them, if these are several."""

LOOKED_FOR: tuple[tuple[str, str, When], ...] = (
    ("success", "success", "always"),
    ("success", "pass^k", "most attempts"),
    ("success", "pass@k", "most attempts"),
    ("success", "reward", "unlike success"),
    ("success", "progress", "unlike success"),
    ("aborting", "honest_abort", "known"),
    ("aborting", "false_abort", "nonzero"),
    ("calibration", "brier", "known"),
    ("faults", "degradation", "known"),
    ("recovery", "recovery_rate", "always"),
    ("silent_faults", "detected", "known"),
    ("silent_faults", "propagated", "known"),
    ("tool_use", "tool_error_rate", "nonzero"),
    ("tool_use", "invalid_calls", "nonzero"),
    ("retrying", "futile_repeats", "nonzero"),
    ("retrying", "retry_storms", "nonzero"),
    ("looping", "loop_score", "nonzero"),
    ("side_effects", "clean_success", "always"),
    ("side_effects", "collateral", "always"),
    ("side_effects", "violations", "always"),
    ("side_effects", "broken_checks", "nonzero"),
    ("side_effects", "irreversible_ops", "nonzero"),
    ("side_effects", "boundary_attempts", "nonzero"),
    ("tampering", "tamper_confirmed", "always"),
    ("tampering", "tamper_suspected", "nonzero"),
    ("tampering", "tamper_attempted", "nonzero"),
    ("tampering", "hack_inflated_success", "nonzero"),
    ("overthinking", "token_efficiency", "always"),
    ("overthinking", "stopping_efficiency", "known"),
    ("overthinking", "overspend", "known"),
    ("overthinking", "thinking_share", "nonzero"),
    ("overthinking", "starved", "nonzero"),
    ("pondering", "budget_adherence", "known"),
    ("overthinking", "cost_of_pass", "always"),
    ("overthinking", "usd_of_pass", "known"),
)
"""Scorer and metric, in the order in which they are told. Metrics of scorers that are not bundled are looked for, too:
who writes a scorer wants to see what it says."""

ALARMING = {"tamper_confirmed": "bold red", "violations": "red", "tamper_suspected": "yellow"}
"""Metrics of which any other value than 0 stands out, and how."""


@dataclass(frozen=True, slots=True)
class Glance:
    """A run's numbers, sorted by how much they are worth a look. Each is in one of these at most."""

    shown: tuple[str, ...]
    unknown: tuple[str, ...]
    """Looked for, and without a value of any agent."""
    unscored: tuple[str, ...]
    """Metrics that are looked for, and that nobody has computed."""
    folded: tuple[str, ...]
    """All others."""
    silent: int
    """How many of the others are 0 or without a value, whatever the agent."""


def glance(summary: Summary, bundled: Collection[str]) -> Glance:
    """What of a summary is worth a look, where these scorers are bundled ones."""
    known = quantities_of(summary)
    shown: list[str] = []
    unknown: list[str] = []
    for scorer, metric, when in LOOKED_FOR:
        own = [
            name for name, quantity in known.items() if (quantity.scorer, quantity.name) == (scorer, metric)
        ]
        shown += _worth_a_look(summary, own, when)
        unknown += own if when == "always" and not _values(summary, own) else []
    for name, quantity in known.items():
        if _is_own(quantity, bundled):
            (shown if _values(summary, [name]) else unknown).append(name)
    if FIRST not in shown:
        shown = [name for name in known if name == "pass^1" and name not in shown] + shown
    folded = tuple(name for name in known if name not in {*shown, *unknown})
    return Glance(
        shown=tuple(shown),
        unknown=tuple(unknown),
        unscored=_unscored(known),
        folded=folded,
        silent=sum(not any(_values(summary, [name])) for name in folded),
    )


def _worth_a_look(summary: Summary, names: Sequence[str], when: When) -> list[str]:
    if when == "most attempts":
        return [name for name in _of_most_attempts(names) if _values(summary, [name])]
    told = [name for name in names if _values(summary, [name])]
    if when == "nonzero":
        return [name for name in told if any(_values(summary, [name]))]
    if when == "unlike success":
        return [name for name in told if _values(summary, [name]) != _values(summary, [FIRST])]
    return told


def _of_most_attempts(names: Sequence[str]) -> list[str]:
    most = sorted(names, key=natural)[-1:]
    return [name for name in most if not name.endswith(("^1", "@1"))]


def _values(summary: Summary, names: Collection[str]) -> list[float]:
    """All that is known of these numbers, in the order of agents, arms and groups."""
    figures = [own.figures[name] for own in summary.cells for name in names if name in own.figures]
    return [figure.estimate.value for figure in figures if figure.estimate.value is not None]


def _is_own(quantity: Quantity, bundled: Collection[str]) -> bool:
    """Whether a scorer of the project or of a package gave it, or one that is not there any more."""
    return quantity.scorer is not None and (quantity.metric is None or quantity.scorer not in bundled)


def _unscored(known: Mapping[str, Quantity]) -> tuple[str, ...]:
    there = {(quantity.scorer, quantity.name) for quantity in known.values()}
    return tuple(
        metric
        for scorer, metric, when in LOOKED_FOR
        if when == "always" and metric != FIRST and (scorer, metric) not in there
    )
