"""How well are tools used?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from evalkit.measures.action import Action
from evalkit.trajectory.step import Act

LONGEST_CYCLE = 3


def tool_error_rate(actions: Sequence[Action]) -> tuple[int, int]:
    """Failed actions and all actions: a ratio of sums over trials. A failing test is a failed call, too."""
    return sum(action.failure is not None for action in actions), len(actions)


def invalid_calls(acts: Sequence[Act]) -> tuple[int, ...]:
    """Steps of the calls that could not be made: an unknown tool, or arguments that do not parse or fit."""
    return tuple(act.step for act in acts if act.error_kind == "parsing" or act.arguments_raw is not None)


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
