"""How do messages become steps, when calls and results do not always fit together?

Calls are keyed by position. A result belongs to the open call that has its id; where several have it, to the first of
them; where it names no id, to the first open call of all. A result of no call and a call without a result are kept.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Any

from evalkit.convert.arguments import parsed_arguments
from evalkit.convert.notes import Notes
from evalkit.convert.open_calls import OpenCalls
from evalkit.trajectory.step import Act, ErrorKind, Event, EventName, Prompt, Role, Step, Think


class Steps:
    """The steps of one trial, in the order in which they are told."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._steps: list[Step] = []
        self._calls: dict[int, int] = {}
        """By think step, how many calls it has."""
        self._open = OpenCalls()

    def __len__(self) -> int:
        return len(self._steps)

    def prompt(self, role: Role, text: str, *, at: datetime | None = None) -> int:
        """What the agent was told."""
        return self._add(Prompt(step=len(self), role=role, text=text, started_at=at))

    def think(self, **fields: Any) -> int:
        """One generation, with the columns of `Think`; returns its number."""
        return self._add(Think(step=len(self), **fields))

    def call(
        self,
        think: int | None,
        tool: str | None,
        arguments: object,
        *,
        id: str | None = None,  # noqa: A002 - what every format calls it
        at: datetime | None = None,
    ) -> int:
        """One call that a generation asks for, in any of the forms in which arguments are written down.

        `think` is None where no generation is known to have asked for it.
        """
        index = None if think is None else self._calls.get(think, 0)
        if think is not None and index is not None:
            self._calls[think] = index + 1
        canonical, raw = parsed_arguments(arguments)
        if raw is not None:
            self._notes.warn("arguments that are no JSON object are kept as they were written")
        number = self._add(
            Act(
                step=len(self),
                parent_step=think,
                think_step=think,
                call_index=index,
                tool=tool,
                arguments=canonical,
                arguments_raw=raw,
                started_at=at,
            )
        )
        self._open.add(number, id)
        return number

    def result(
        self,
        id: str | None,  # noqa: A002 - what every format calls it
        observation: str | None,
        *,
        tool: str | None = None,
        error_kind: ErrorKind | None = None,
        **fields: Any,
    ) -> int:
        """The result of a call; returns the call's number. `fields` are further columns of `Act`."""
        number = self._open.take(id)
        if number is None:
            self._notes.warn("a result of no known call is kept without one")
            number = self._add(Act(step=len(self), tool=tool))
        self.change(number, observation=observation, error_kind=error_kind, **fields)
        return number

    def remark(self, text: str) -> None:
        """Something about the messages was odd."""
        self._notes.warn(text)

    def change(self, number: int, **fields: Any) -> None:
        """Say more about a step."""
        self._steps[number] = dataclasses.replace(self._steps[number], **fields)

    def event(self, event: EventName, detail: str | None = None, *, at: datetime | None = None) -> int:
        """Something that was neither told, thought nor done. `detail` is JSON."""
        return self._add(Event(step=len(self), event=event, detail=detail, started_at=at))

    @property
    def unanswered(self) -> int:
        """Calls without a result so far."""
        return len(self._open)

    def done(self) -> tuple[Step, ...]:
        """All steps."""
        return tuple(self._steps)

    def _add(self, step: Step) -> int:
        self._steps.append(step)
        return step.step
