"""What did an agent try to do with one tool call, and is another call the same attempt?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evalkit.measures.failure_rule import FailureRule, Hook, failure_rule
from evalkit.measures.shell_call import arguments_of, shell_line
from evalkit.measures.shell_line import first_doing
from evalkit.trajectory.step import Act, Step

TRANSIENT = frozenset({"timeout", "unavailable", "rate_limited"})


@dataclass(frozen=True, slots=True)
class Intent:
    """What a call is about: two calls with one intent are attempts at the same thing."""

    operation: str
    """The class of a shell line's operation; of another tool, its name."""
    resource: str


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call, as recovery sees it."""

    step: int
    think_step: int | None
    key: str
    """Tool and canonical arguments: equal calls have equal keys."""
    word: str
    """What kind of call it is, without blanks: a tool's name, of a shell with the class of its operation."""
    intent: Intent
    line: str | None
    """The whole shell line that it runs; None for a call of another tool."""
    failure: FailureRule | None
    transient: bool
    """It failed in a way that passes by itself: a timeout, something unavailable, a rate limit."""
    workspace_digest: str | None
    """After the call."""
    started_at: datetime | None = None
    duration_s: float | None = None
    retry_after_s: float | None = None
    """How long its failure asked to wait; None where it asked nothing."""

    @property
    def is_shell(self) -> bool:
        return self.line is not None

    @property
    def ended_at(self) -> datetime | None:
        """None where the record does not tell."""
        if self.started_at is None or self.duration_s is None:
            return None
        try:
            return self.started_at + timedelta(seconds=self.duration_s)
        except OverflowError:
            return None


def actions(
    steps: Iterable[Step],
    *,
    resource_args: Mapping[str, str] | None = None,
    silent_faults: frozenset[str] = frozenset(),
    hooks: Sequence[Hook] = (),
    waits: Mapping[int, float] | None = None,
) -> tuple[Action, ...]:
    """Every tool call in order.

    `resource_args` names for a function tool the argument that is its resource; `waits` says of a call by its step how
    long its failure asked to wait, in seconds.
    """
    resources, asked = resource_args or {}, waits or {}
    return tuple(
        _action(step, resources, failure_rule(step, silent_faults=silent_faults, hooks=hooks), asked)
        for step in steps
        if isinstance(step, Act)
    )


def _action(
    act: Act, resource_args: Mapping[str, str], failure: FailureRule | None, waits: Mapping[int, float]
) -> Action:
    line = shell_line(act)
    intent = _intent(act, resource_args) if line is None else _shell_intent(line)
    tool = "_".join((act.tool or "").split()) or "unnamed"
    return Action(
        step=act.step,
        think_step=act.think_step,
        key=f"{act.tool} {act.arguments if act.arguments is not None else act.arguments_raw}",
        word=tool if line is None else f"{tool}:{intent.operation}",
        intent=intent,
        line=line,
        failure=failure,
        transient=act.error_kind in TRANSIENT,
        workspace_digest=act.workspace_digest,
        started_at=act.started_at,
        duration_s=act.duration_s,
        retry_after_s=waits.get(act.step),
    )


def _shell_intent(line: str) -> Intent:
    doing = first_doing(line)
    return Intent(doing.operation, doing.resource)


def _intent(act: Act, resource_args: Mapping[str, str]) -> Intent:
    tool = act.tool or ""
    if tool in resource_args:
        return Intent(tool, _written(arguments_of(act).get(resource_args[tool])))
    return Intent(tool, act.arguments or act.arguments_raw or "")


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:  # nested so deeply that it can be read, but not be written again
        return "nested too deeply"
