"""Which agent loop works on a trial: ours, or a solver of Inspect's that the user names?"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from inspect_ai.agent import Agent as InspectAgent
from inspect_ai.agent import as_solver
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Solver
from inspect_ai.tool import Tool, ToolDef

from evalkit.engine.inspect_objects import Found, Kind, find
from evalkit.engine.loop import LoopInput, Outcome, react
from evalkit.engine.own_code import OUR_LOOPS, OwnCode, Source
from evalkit.engine.own_tools import own_tools
from evalkit.engine.solver_loop import run_solver
from evalkit.engine.solving import current_solving
from evalkit.errors import UsageError

_KINDS: tuple[Kind, ...] = ("solver", "agent")
_OWN_ENDING = {"inspect_ai/react": {"submit": False}}
"""Loops that leave out their own `submit` when told, so that ours is the one that ends the trial."""


def find_loop(text: str) -> Source:
    """The loop that `FILE.py@solver` or `package/solver` names. Raises UsageError where there is none, or where it
    cannot be made without arguments.
    """
    if "/" not in text and ".py" not in text:
        raise UsageError(
            f"there is no agent loop {text!r}",
            hint="There is react, our own; or name a solver of Inspect's: FILE.py@solver, package/solver.",
        )
    found = find(text, _KINDS)
    source = Source(found.source, _loop_name(found), found.digest)
    found.check(_arguments(found, ()))
    return source


def _loop_name(found: Found) -> str:
    """The solver's name; with its file's, where it would pass for one of ours."""
    return f"{Path(found.file).stem}@{found.name}" if found.file and found.name in OUR_LOOPS else found.name


@dataclass(frozen=True, slots=True)
class MadeLoop:
    """A solver that is ready, and what it leaves to the conversation."""

    solver: Solver
    tools: tuple[Tool, ...]
    """What belongs into the state, because the solver was not made with it."""


def make_loop(source: Source, tools: Sequence[Tool]) -> MadeLoop:
    """Make the loop for one trial. One that takes `tools` is made with them."""
    found = _found(source.text, source.digest)
    if "submit_name" in found.parameters:  # it brings its own, and ends with it alone
        tools = [tool for tool in tools if ToolDef(tool).name != "submit"]
    made = found.make(_arguments(found, tools))
    solver = as_solver(cast("InspectAgent", made)) if found.kind == "agent" else cast("Solver", made)
    return MadeLoop(solver, () if "tools" in found.parameters else tuple(tools))


def _arguments(found: Found, tools: Sequence[Tool]) -> Mapping[str, Any]:
    given: dict[str, Any] = {"tools": list(tools)} if "tools" in found.parameters else {}
    return given | _OWN_ENDING.get(found.name, {})


@functools.lru_cache(maxsize=64)
def _found(text: str, digest: str) -> Found:
    """A file is run once for each content, however many trials there are."""
    del digest
    return find(text, _KINDS)


async def run_loop(own: OwnCode, given: LoopInput) -> Outcome:
    """Work on one stage of a task with the agent's loop, and with the user's own tools beside ours."""
    async with own_tools(own) as further:
        theirs = further if given.strike is None else given.strike(further)
        given = replace(given, tools=(*given.tools, *theirs))
        return await react(given) if own.loop is None else await _run_theirs(own.loop, given)


async def _run_theirs(loop: Source, given: LoopInput) -> Outcome:
    solving = current_solving.get()
    if solving.box is not None:
        solving.box.started = True
    made = make_loop(loop, given.tools)
    state = solving.state
    state.messages = [*given.messages, ChatMessageUser(content=given.instruction)]
    state.tools, state.completed = list(made.tools), False
    try:
        return await run_solver(
            [made.solver],
            solving,
            given.recorder,
            given.limits,
            clock=given.clock,
            spending=given.spending,
        )
    finally:
        given.messages[:] = solving.state.messages
