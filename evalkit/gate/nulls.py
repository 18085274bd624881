"""Why may a metric of a policy have no value, though its scorer has looked at the trials?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evalkit.gate.gated import Declared, Gated
from evalkit.gate.side import Side

_UNMEASURED = "side effects were not measured"


def nulls(
    rules: Sequence[Gated], scorers: Mapping[str, str | None], declared: Declared, sides: Sequence[Side]
) -> Mapping[str, str]:
    """What to do about metrics that scored trials of a side have a null of, by the key or name in the policy.

    To compute scores again gives these nothing.
    """
    named = [(own.rule.key, own.scorer, name) for own in rules for name in own.sources]
    named += [(name, scorer, name) for name, scorer in scorers.items()]
    found: dict[str, str] = {}
    for key, scorer, name in named:
        metric = next((one for one in declared.get(scorer or "", ()) if one.name == name), None)
        when = metric.null_when if metric else None
        if scorer is not None and when is not None and any(_has_null(side, scorer, name) for side in sides):
            found.setdefault(key, _advice(name, when))
    return found


def _has_null(side: Side, scorer: str, name: str) -> bool:
    column = side.scored.columns.get((scorer, name))
    return column is not None and bool(np.isnan(column.values[~side.scored.unscored]).any())


def _advice(name: str, when: str) -> str:
    if _UNMEASURED in when:
        return (
            "Side effects were not measured: run again without `--no-effects` and `effects = false`; "
            "no scorer can tell them afterwards."
        )
    return f"{name} has no value where this holds: {when}. Gate it only of runs where it does not."
