# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""Which trials are there, and which of them does a reader want to see first?"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalkit.report.shown_text import name
from evalkit.scoring.scored_trials import LightTrial, ScoredTrials
from evalkit.trajectory.reader import Run

Note = Literal["tampering", "failed", "unscored", "not recovered", "side effects", "passed"]
NOTES: tuple[Note, ...] = ("tampering", "failed", "unscored", "not recovered", "side effects", "passed")
"""What is notable about a trial, the most urgent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTrial:
    """One trial of a report."""

    place: int
    """In the list, from 0."""
    key: str
    """What links name: its id, with its run where several runs have it. Safe to show, and unique."""
    trial_id: str
    run: int
    """Which of the report's runs it is in."""
    light: LightTrial
    """Its agent is the entrant's name."""
    note: Note
    tokens: int | None
    """Output tokens."""
    seconds: float | None

    @property
    def urgency(self) -> tuple[int, bytes]:
        """Less is shown first; among equals, an order that is the same every time and favours nobody."""
        return NOTES.index(self.note), hashlib.sha256(self.key.encode("utf-8", "replace")).digest()[:8]


def listed_trials(runs: Sequence[tuple[str, Run]], scored: ScoredTrials) -> list[ListedTrial]:
    """All trials, run after run, in the order of `scored`, which holds those of all runs one after the other."""
    times = Counter(trial.trial_id for trial in scored.trials)
    notes = _notes(scored)
    taken: set[str] = set()
    listed: list[ListedTrial] = []
    for number, (run_name, run) in enumerate(runs):
        table = run.trials.to_table(["trial_id", "output_tokens", "agent_s"])
        known: dict[str, tuple[int | None, float | None]] = {
            trial_id: (tokens, seconds)
            for trial_id, tokens, seconds in zip(
                *(table.column(column).to_pylist() for column in table.column_names), strict=True
            )
        }
        for light in scored.trials[len(listed) : len(listed) + len(known)]:
            tokens, seconds = known[light.trial_id]
            key = str(name(light.trial_id))
            if times[light.trial_id] > 1:
                key = f"{key} ({name(run_name)})"
            if key in taken:
                key = f"{key} #{len(listed)}"
            taken.add(key)
            listed.append(
                ListedTrial(
                    place=len(listed),
                    key=key,
                    trial_id=light.trial_id,
                    run=number,
                    light=light,
                    note=notes[len(listed)],
                    tokens=tokens,
                    seconds=None if seconds is None else round(seconds, 2),
                )
            )
    return listed


def _notes(scored: ScoredTrials) -> list[Note]:
    nothing = np.zeros(len(scored.trials))
    flagged = nothing > 0
    for (_, metric), column in scored.columns.items():
        if metric == "tamper_confirmed":
            flagged |= np.nan_to_num(column.values) > 0
    unclean = scored.columns.get(("side_effects", "clean"))
    opened, closed = (scored.columns.get(("recovery", metric)) for metric in ("episodes", "recovered"))
    left_open = (
        nothing > 0
        if opened is None or closed is None
        else np.nan_to_num(opened.values) > np.nan_to_num(closed.values)
    )
    return [
        _note(
            trial,
            flagged=bool(flagged[place]),
            left_open=bool(left_open[place]),
            unclean=unclean is not None and bool(unclean.values[place] == 0),
        )
        for place, trial in enumerate(scored.trials)
    ]


def _note(trial: LightTrial, *, flagged: bool, left_open: bool, unclean: bool) -> Note:
    if flagged:
        return "tampering"
    if trial.status in {"failed", "unscored"}:
        return "failed" if trial.status == "failed" else "unscored"
    faulted = trial.variant not in {"clean", "twin"}
    if faulted and left_open:
        return "not recovered"
    return "side effects" if unclean else "passed"


def index_columns(
    listed: Sequence[ListedTrial],
    shards: Sequence[int | None],
    runs: Sequence[tuple[str, Run]],
    lost: Collection[int] = (),
) -> dict[str, list[object]]:
    """One light row for every trial, by column; `shards` says in which block each one's steps are, None for nowhere.

    Of the places in `lost` the steps are missing in the record.
    """
    return {
        "id": [one.key for one in listed],
        "run": [name(runs[one.run][0]) for one in listed],
        "entrant": [name(one.light.agent) for one in listed],
        "suite": [name(one.light.suite) for one in listed],
        "task": [name(one.light.task_id) for one in listed],
        "variant": [name(one.light.variant) for one in listed],
        "epoch": [one.light.epoch for one in listed],
        "status": [one.light.status for one in listed],
        "note": [None if one.note == one.light.status else one.note for one in listed],
        "tokens": [one.tokens for one in listed],
        "seconds": [one.seconds for one in listed],
        "shard": list(shards),
        "lost": [one.place in lost for one in listed],
    }
