"""Does an agent think where it should act, act where it should look, or stop before it has looked?

The three patterns of the reasoning-action dilemma (arXiv 2502.08235), read from the record and not by a judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit.measures.action import Action
from evalkit.measures.line_doings import line_doings
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Step, Think

Disengagement = Literal["verified", "unverified", "verification failed"]
_ENDED_BY_AN_ANSWER = frozenset({None, "submitted", "refused"})
_JOINS = frozenset("_-.")
"""What a name goes on with, beside letters and digits; a dot behind it begins an ending or ends a sentence."""
_LEAST_NAME = 3
"""Characters of a name that can be looked for in a call."""


@dataclass(frozen=True, slots=True)
class Paralysis:
    """Generations that called no tool, though they were no final answer."""

    share: float | None
    """Of all generated tokens; None where they are unknown."""
    longest: int
    """The longest streak, in generations."""
    steps: tuple[int, ...]


def paralysis(steps: Sequence[Step], stop_reason: str | None) -> Paralysis | None:
    """The share of tokens that went into generations without a call, and the longest streak of such.

    The last generation is the final answer where the trial ended by one. None for plain dialogues: trials that ended
    by an answer and have no call.
    """
    thinks = [step for step in steps if isinstance(step, Think)]
    calling = {step.think_step for step in steps if isinstance(step, Act)}
    answered = stop_reason in _ENDED_BY_AN_ANSWER
    if not thinks or (answered and not calling):
        return None
    idle = [think for think in thinks if think.step not in calling]
    if answered and idle and idle[-1] is thinks[-1]:
        idle.pop()
    silent = {think.step for think in idle}
    longest = streak = 0
    for think in thinks:
        streak = streak + 1 if think.step in silent else 0
        longest = max(longest, streak)
    return Paralysis(_share(idle, thinks), longest, tuple(sorted(silent)))


def rogue_generations(
    steps: Iterable[Step], actions: Sequence[Action], changed: frozenset[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the generations right after a failed call those that issue two or more changing calls, and all of them.

    Both by step. A failing test is no failure: it is what was looked for.
    """
    failed = {action.step for action in actions if action.failure and not _failed_in_test(action)}
    after: dict[int, int] = {}
    latest, is_after_failure = -1, False
    for step in steps:
        if isinstance(step, Think):
            latest = step.step
            if is_after_failure:
                after[latest] = 0
            is_after_failure = False
        elif isinstance(step, Act):
            is_after_failure = is_after_failure or step.step in failed
            by = step.think_step if step.think_step is not None else latest
            if by in after and step.step in changed:
                after[by] += 1
    return tuple(step for step, changes in after.items() if changes > 1), tuple(after)


def disengagement(
    acts: Sequence[Act], actions: Sequence[Action], changed: frozenset[int], effects: Sequence[Effect] = ()
) -> tuple[Disengagement, tuple[int, ...]] | None:
    """Whether work was looked at between the last change and the end, with the steps that it rests on.

    A verifying call comes after the last change, changes nothing, and either names something that was changed or runs
    a test, in whichever of its commands; the last one decides. None where nothing was changed.
    """
    if not changed:
        return None
    last = max(changed)
    names = _changed_names(actions, changed, effects)
    texts: Mapping[int, str] = {act.step: act.arguments or act.arguments_raw or "" for act in acts}
    looked = [
        action
        for action in actions
        if action.step > last and (_tests(action) or _names_one(texts.get(action.step, ""), names))
    ]
    if not looked:
        return "unverified", (last,)
    final = looked[-1]
    printed = next((act.observation for act in acts if act.step == final.step), None)
    failed = final.failure is not None or (
        final.line is not None and line_doings(final.line).told_failing(printed or "")
    )
    return "verification failed" if failed else "verified", (last, final.step)


def _tests(action: Action) -> bool:
    if action.line is None:
        return action.intent.operation == "test"
    return line_doings(action.line).tests


def _failed_in_test(action: Action) -> bool:
    if action.line is None:
        return action.intent.operation == "test"
    return line_doings(action.line).ends_in_test


def _changed_names(
    actions: Sequence[Action], changed: frozenset[int], effects: Sequence[Effect]
) -> frozenset[str]:
    """Resources, and the last parts of paths."""
    resources = {
        resource for action in actions if action.step in changed for resource in _changed_resources(action)
    }
    resources |= {effect.resource for effect in effects if effect.step in changed}
    names = {name.rstrip("/").rpartition("/")[2] for name in resources}
    return frozenset(name for name in names if _LEAST_NAME <= len(name) <= 255)


def _changed_resources(action: Action) -> tuple[str, ...]:
    return (action.intent.resource,) if action.line is None else line_doings(action.line).changed


def _names_one(text: str, names: frozenset[str]) -> bool:
    """Whether one of them stands in the text as a name of its own, and not as a part of a longer one."""
    return any(_stands_in(name, text) for name in names)


def _stands_in(name: str, text: str) -> bool:
    place = text.find(name)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
        if not (before.isalnum() or before in _JOINS) and not (after.isalnum() or after in _JOINS - {"."}):
            return True
        place = text.find(name, place + 1)
    return False


def _share(idle: Iterable[Think], thinks: Sequence[Think]) -> float | None:
    total = 0
    for think in thinks:
        if think.output_tokens is None:
            return None
        total += think.output_tokens
    return sum(think.output_tokens or 0 for think in idle) / total if total else None
