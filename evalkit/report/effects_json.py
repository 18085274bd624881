"""What of a trial's lasting changes goes into a page?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from evalkit.measures.side_effects import severity_of
from evalkit.report.shown_text import name
from evalkit.scoring.trial import Trial
from evalkit.trajectory.effect import Effect

MOST = 200
"""Changes of a trial that a page names."""
_NAMED = 3
_OUTSIDE = {"forbidden", "collateral"}


def effects_json(trial: Trial) -> dict[str, object] | None:
    """By column, the worst first, and how many there are in all; None where they were not measured."""
    if not trial.changes and not trial.row.effects_measured:
        return None
    there = {step.step for step in trial.steps}
    shown = sorted(trial.changes, key=_order)[:MOST]
    return {
        "count": len(trial.changes),
        "rows": {
            "change": [own.change for own in shown],
            "resource": [name(own.resource) for own in shown],
            "class": [own.class_ for own in shown],
            "irreversible": [own.irreversible for own in shown],
            "transient": [bool(own.transient) for own in shown],
            "severity": [own.severity for own in shown],
            "step": [own.step if own.step in there else None for own in shown],
            "evidence": [[step for step in own.evidence if step in there] for own in shown],
        },
    }


def effect_marks(trial: Trial) -> Iterator[tuple[int, str, str]]:
    """Step, what it changed in words, and the kind; one for each class of changes that a step made."""
    found: defaultdict[tuple[int, str], list[Effect]] = defaultdict(list)
    for effect in trial.changes:
        if effect.step is not None:
            found[effect.step, effect.class_ or "unjudged"].append(effect)
    for (step, kind), effects in sorted(
        found.items(), key=lambda item: (item[0][0], _order(min(item[1], key=_order)))
    ):
        yield step, _words(effects, kind), kind


def _words(effects: Sequence[Effect], kind: str) -> str:
    ordered = sorted(effects, key=_order)
    named = ", ".join(f"{own.change} {own.resource}{_lost(own)}" for own in ordered[:_NAMED])
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return f"{kind}: {named}{more}"


def _lost(effect: Effect) -> str:
    return " for good" if effect.irreversible else ""


def _order(effect: Effect) -> tuple[bool, float, str, str]:
    """What is outside of what is allowed comes first, the worst of it before the others."""
    return (effect.class_ not in _OUTSIDE, -severity_of(effect), effect.channel, effect.resource)
