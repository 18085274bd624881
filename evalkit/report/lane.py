"""What runs along a trial, beside its steps?

A lane is data: the page draws every lane alike, so that another one is one more function in `LANES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalkit.measures.episode import Episode
from evalkit.report.effects_json import effect_marks
from evalkit.report.findings_json import finding_marks
from evalkit.report.progress_json import solved_at, state_words
from evalkit.report.shown_text import name
from evalkit.scoring.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that lasted."""

    first: int
    """Step where it began."""
    last: int | None
    """Step where it ended; None where it never did."""
    label: str
    kind: str
    """How it ended, in one word; goes into a class name where the page knows it."""
    steps: tuple[int, ...] = ()
    """Those that belong to it."""

    def as_json(self) -> dict[str, object]:
        return {
            "from": self.first,
            "to": self.last,
            "label": name(self.label),
            "kind": self.kind,
            "steps": list(self.steps),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened at one step."""

    step: int
    label: str
    kind: str

    def as_json(self) -> dict[str, object]:
        return {"step": self.step, "label": name(self.label), "kind": self.kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Spans and marks of one sort."""

    name: str
    title: str
    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "title": self.title,
            "spans": [span.as_json() for span in self.spans],
            "marks": [mark.as_json() for mark in self.marks],
        }


def lanes(trial: Trial) -> list[Lane]:
    """Those that have anything in them."""
    return [lane for make in LANES if (lane := make(trial)).spans or lane.marks]


def _faults(trial: Trial) -> Lane:
    return Lane(
        name="faults",
        title="Faults",
        marks=tuple(
            Mark(
                step=strike.step,
                label=f"fault {strike.fault_id}: {strike.kind}, {'loud' if strike.loud else 'silent'}, "
                f"{'seen' if strike.visible else 'not seen'} by the agent",
                kind="loud" if strike.loud else "silent",
            )
            for strike in trial.strikes
        ),
    )


def _wrong_values(trial: Trial) -> Lane:
    found: list[Mark] = []
    for spread in trial.spreads:
        fault = spread.strike.fault_id
        found += [
            Mark(step=step, label=f"uses the wrong value of fault {fault}", kind="believed")
            for step in spread.reached_by
        ]
        found += [
            Mark(step=step, label=f"looks again after fault {fault}", kind="doubted")
            for step in spread.reread
        ]
    return Lane(name="wrong_values", title="Wrong values", marks=tuple(found))


def _episodes(trial: Trial) -> Lane:
    return Lane(
        name="episodes",
        title="Failure episodes",
        spans=tuple(
            Span(
                first=episode.opened_at,
                last=episode.closed_at,
                label=f"{episode.intent.operation} {episode.intent.resource}".strip(),
                kind=_ending(episode),
                steps=episode.attempts,
            )
            for episode in trial.episodes
        ),
    )


def _checkpoints(trial: Trial) -> Lane:
    """What the grader said on the way, and all that followed when the task was already solved."""
    solved, last = solved_at(trial), max((step.step for step in trial.steps), default=0)
    return Lane(
        name="checkpoints",
        title="Checkpoints",
        spans=()
        if solved is None
        else (Span(first=solved, last=last, label="already solved", kind="solved"),),
        marks=tuple(
            Mark(step=state.step, label=state_words(state), kind="achieved" if state.passed else "graded")
            for state in trial.states
        ),
    )


def _effects(trial: Trial) -> Lane:
    marks = (Mark(step=step, label=label, kind=kind) for step, label, kind in effect_marks(trial))
    return Lane(name="effects", title="Lasting changes", marks=tuple(marks))


def _tampering(trial: Trial) -> Lane:
    marks = (Mark(step=step, label=label, kind=kind) for step, label, kind in finding_marks(trial))
    return Lane(name="tampering", title="Tampering", marks=tuple(marks))


def _ending(episode: Episode) -> str:
    if episode.by_milestone:
        return "milestone"
    if episode.recovered:
        return "recovered"
    return "abandoned" if episode.abandoned else "unrecovered"


LANES: tuple[Callable[[Trial], Lane], ...] = (
    _tampering,
    _faults,
    _wrong_values,
    _episodes,
    _checkpoints,
    _effects,
)
