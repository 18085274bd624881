"""Does every trial have the values that it must have, and do they fit each other?

A value that is missing where it cannot be says that something was lost, or taken away. What were left out then is not
random: it may be just the trials that failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evalkit.gate.gated import Declared, Gated
from evalkit.gate.pairs import Share
from evalkit.gate.policy import GatePolicy
from evalkit.gate.verdict import Problem
from evalkit.scoring.per_task import Places
from evalkit.scoring.scored_trials import Column

_NEVER = (None, "the task is an impossible twin")
"""When metrics say to be null that every trial has which is compared here: twins are not."""
_TAMPERED = "tamper_confirmed"


def problems_of_values(
    own: Gated, share: Share, role: str, policy: GatePolicy, declared: Declared
) -> Iterator[Problem]:
    """What is wrong with the values of a gated metric at the trials that are compared."""
    side = share.side
    hint = (
        f"Compute them again: evalkit score {side.name}"
        if role == "candidate"
        else "Accept a run again whose trials all have scores: evalkit baseline accept RUN"
    )
    scored = share.places[~side.scored.unscored[share.places]]
    for name, column, always in _columns(own, share, declared):
        lost = int(np.isnan(column.values[scored]).sum())
        if lost == len(scored):
            continue  # without any value at all the metric's own verdict says so
        allowed = 0 if always else policy.max_unscored * len(scored)
        if lost > allowed:
            limit = "each has one" if always else f"{100 * policy.max_unscored:.3g} % may lack one"
            told = f"{lost} of {len(scored)} scored trials of the {role} have no value of {name}, and {limit}"
            yield Problem(what=told, hint=hint)
        if own.scorer is None and bool((column.values[scored] < 0).any()):
            yield Problem(what=f"{name} is below 0 in the {role}", hint=hint)
    if own.scorer == "success" and (odd := _contradictions(share, scored)):
        yield Problem(
            what=f"{odd} scores of success in the {role} contradict what the grader said of the trial",
            hint=hint,
        )


def _columns(own: Gated, share: Share, declared: Declared) -> Iterator[tuple[str, Column, bool]]:
    """What a metric rests on, and whether every scored trial has it."""
    if own.scorer is None:
        yield own.metric.name, share.side.numbers[own.metric.name], False
        return
    for name in own.sources:
        column = share.side.scored.columns.get((own.scorer, name))
        source = next((one for one in declared.get(own.scorer, ()) if one.name == name), None)
        if column is not None and source is not None and source.null_when in _NEVER:
            yield name, column, True


def _contradictions(share: Share, scored: Places) -> int:
    """Trials whose score of success is not what their grader said, but for those that were tampered with."""
    side = share.side
    success = side.scored.columns.get(("success", "success"))
    if success is None:
        return 0
    trials = [side.scored.trials[int(place)] for place in scored]
    passed = np.array([trial.status == "passed" for trial in trials], dtype=np.bool_)
    tampered = np.zeros(len(scored), dtype=np.bool_)
    for key in _named(share, _TAMPERED):
        tampered |= side.scored.columns[key].values[scored] > 0
    told = success.values[scored]
    return int((~np.isnan(told) & ((told == 1) != passed) & ~tampered).sum())


def _named(share: Share, metric: str) -> Sequence[tuple[str, str]]:
    return [key for key in share.side.scored.columns if key[1] == metric]
