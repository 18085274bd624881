"""Where in an Inspect sample did an event happen: in the agent, in a call, in a scorer?

Events name the span they are in (`span_id`). Logs of before mid 2025 have steps that begin and end instead.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from datetime import datetime

from evalkit.convert.notes import Notes
from evalkit.convert.reported import between, moment
from evalkit.models.wire.json_values import text_in

Raw = Mapping[str, object]
_SCORING = ("scorers", "scorer")
_DEEPEST = 100


class Spans:
    """The spans and steps of one sample, as far as they have been read."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._parents: dict[str, str | None] = {}
        self._scoring: set[str] = set()
        self._steps: list[bool] = []
        """Of the steps that have begun, whether each is a scorer's."""
        self._scoring_steps = 0
        self.scored = False
        """Whether scoring has begun."""
        self._calls: dict[tuple[str | None, str], deque[str]] = defaultdict(deque[str])
        """Spans of calls whose event is still to come."""
        self._acts: dict[str, int] = {}
        self._began: dict[str, datetime] = {}
        self._phases: dict[str, str] = {}
        self._lasted: dict[str, float | None] = {}

    def note(self, event: Raw) -> bool:
        """Take in an event that begins or ends a span or a step; False for any other."""
        kind = event.get("event")
        if kind == "span_begin":
            self._begin(event)
        elif kind == "span_end":
            self._end(text_in(event.get("id")), event)
        elif kind == "step":
            self._step(event)
        else:
            return False
        return True

    def grading(self, event: Raw) -> bool:
        """Whether an event happened in a scorer."""
        return text_in(event.get("span_id")) in self._scoring or self._scoring_steps > 0

    def bind(self, event: Raw, act: int) -> None:
        """The call of this event is this step."""
        waiting = self._calls.get((text_in(event.get("span_id")), text_in(event.get("function")) or ""))
        if waiting:
            self._acts[waiting.popleft()] = act

    def act_of(self, event: Raw) -> int | None:
        """The innermost call in which an event happened."""
        span = text_in(event.get("span_id"))
        for _ in range(_DEEPEST):
            if span is None or span in self._acts:
                break
            span = self._parents.get(span)
        return None if span is None else self._acts.get(span)

    def seconds(self, phase: str) -> float | None:
        """How long the phase lasted: `solvers` or `scorers`. None where the log does not tell."""
        return self._lasted.get(phase)

    def _begin(self, event: Raw) -> None:
        span, parent = text_in(event.get("id")), text_in(event.get("parent_id"))
        if span is None:
            return
        kind = event.get("type")
        self._parents[span] = parent
        if kind in _SCORING or parent in self._scoring:
            self._scoring.add(span)
            self.scored = True
        if kind == "tool":
            self._calls[parent, text_in(event.get("name")) or ""].append(span)
        if kind in ("solvers", "scorers"):
            self._phases[span] = str(kind)
            if began := moment(event.get("timestamp"), self._notes):
                self._began[span] = began

    def _end(self, span: str | None, event: Raw) -> None:
        if span in self._phases and span in self._began:
            ended = moment(event.get("timestamp"), self._notes)
            self._lasted[self._phases[span]] = between(self._began[span], ended, self._notes)

    def _step(self, event: Raw) -> None:
        if event.get("action") == "begin":
            self._steps.append(event.get("type") in _SCORING)
            self._scoring_steps += self._steps[-1]
            self.scored = self.scored or self._steps[-1]
        elif self._steps:
            self._scoring_steps -= self._steps.pop()
