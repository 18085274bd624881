"""What did an agent try to do with one tool call, and is another call the same attempt?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalkit.measures.failure_rule import FailureRule, failure_rule
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
    intent: Intent
    failure: FailureRule | None
    transient: bool
    """It failed in a way that passes by itself: a timeout, something unavailable, a rate limit."""
    workspace_digest: str | None
    """After the call."""


def actions(
    steps: Iterable[Step],
    *,
    resource_args: Mapping[str, str] | None = None,
    silent_faults: frozenset[str] = frozenset(),
) -> tuple[Action, ...]:
    """Every tool call in order. `resource_args` names for a function tool the argument that is its resource."""
    return tuple(
        Action(
            step=step.step,
            think_step=step.think_step,
            key=f"{step.tool} {step.arguments if step.arguments is not None else step.arguments_raw}",
            intent=_intent(step, resource_args or {}),
            failure=failure_rule(step, silent_faults=silent_faults),
            transient=step.error_kind in TRANSIENT,
            workspace_digest=step.workspace_digest,
        )
        for step in steps
        if isinstance(step, Act)
    )


def _intent(act: Act, resource_args: Mapping[str, str]) -> Intent:
    line = shell_line(act)
    if line is not None:
        doing = first_doing(line)
        return Intent(doing.operation, doing.resource)
    tool = act.tool or ""
    if tool in resource_args:
        value = arguments_of(act).get(resource_args[tool])
        return Intent(tool, value if isinstance(value, str) else json.dumps(value, sort_keys=True))
    return Intent(tool, act.arguments or act.arguments_raw or "")
