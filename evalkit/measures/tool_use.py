"""How well are tools used?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from evalkit.measures.action import Action
from evalkit.trajectory.step import Act

LONGEST_CYCLE = 3
_SHORT = 200
_UNKNOWN_TOOL = re.compile(
    r"(error:? *)?(((no such|unknown|invalid) (tool|function|action):? *['\"`]?\?)"
    r"|((the )?(tool|function|action) ['\"`]?\?['\"`]? (was |is |does )?(not (found|exist|available|defined)|unknown)))"
)
"""At the beginning of an answer, with `?` for the tool's own name."""


def tool_error_rate(actions: Sequence[Action]) -> tuple[int, int]:
    """Failed actions and all actions: a ratio of sums over trials. A failing test is a failed call, too."""
    return sum(action.failure is not None for action in actions), len(actions)


def invalid_calls(acts: Sequence[Act]) -> tuple[int, ...]:
    """Steps of the calls that could not be made: an unknown tool, or arguments that do not parse or fit.

    Our own loop and Inspect record all of these as a failure of parsing; of other formats, an answer that says of the
    very tool that there is none (`Tool X not found`, `Unknown action X`) counts, too.
    """
    return tuple(
        act.step
        for act in acts
        if act.error_kind == "parsing" or act.arguments_raw is not None or _is_unknown_tool(act)
    )


def _is_unknown_tool(act: Act) -> bool:
    """Nothing ran, and a short answer names the tool as one that is not there."""
    if not act.tool or act.exit_code is not None or act.observation is None:
        return False
    told = act.observation[:_SHORT].lower()
    name = act.tool.lower()
    return name in told and _UNKNOWN_TOOL.match(told.replace(name, "?")) is not None


def calls_vs_reference(calls: int, reference: float | None) -> float | None:
    """Calls / the median calls of the reference, in [0, ...): 2 is twice as many as needed.

    None where there is no reference, or one without calls.
    """
    return calls / reference if reference else None


def redundant_calls(acts: Sequence[Act]) -> tuple[int, ...]:
    """Steps of the calls that repeat an earlier one, changed nothing since and showed nothing new.

    The same tool and arguments, the same workspace digest and the same observation as an earlier call. A call whose
    digest is unknown is none.
    """
    seen: defaultdict[tuple[str | None, str | None], set[tuple[str, str | None]]] = defaultdict(set)
    redundant: list[int] = []
    for act in acts:
        if act.workspace_digest is None or act.arguments is None:
            continue
        state = (act.workspace_digest, act.observation)
        if state in seen[act.tool, act.arguments]:
            redundant.append(act.step)
        seen[act.tool, act.arguments].add(state)
    return tuple(redundant)


def loop_score(keys: Sequence[str]) -> int:
    """The longest stretch of calls, in calls, that is nothing but a cycle of one to three calls over and over.

    0 where no cycle comes twice.
    """
    return max((_longest_cycle(keys, length) for length in range(1, LONGEST_CYCLE + 1)), default=0)


def _longest_cycle(keys: Sequence[str], length: int) -> int:
    best = run = 0
    for place in range(length, len(keys)):
        run = run + 1 if keys[place] == keys[place - length] else 0
        best = max(best, run)
    return best + length if best >= length else 0
