# pyright: reportPrivateUsage=false
"""What do an Inspect task's own scorers say of a trial?

The first scorer gives the reward, through Inspect's own `value_to_float`; where its value has several parts, the
smallest of them is the reward, so that a trial passes only if all of them do. Whatever is no verdict (an exception, no
score, a text that stands for no number) is a GraderError: the trial is unscored, never failed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from inspect_ai.scorer import Score, Scorer, Target, value_to_float
from inspect_ai.scorer._scorer import unique_scorer_name
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from evalkit.errors import GraderError, TaskError
from evalkit.grading.verdict import Verdict

_WORDS = frozenset({"c", "i", "p", "n", "yes", "no", "true", "false"})


async def score_sample(
    scorers: Sequence[Scorer] | None, state: TaskState, target: Target, *, pass_reward: float
) -> Verdict:
    """Run every scorer. Raises TaskError where there is none, GraderError where one gives no verdict."""
    if not scorers:
        raise TaskError(
            "the Inspect task has no scorer, so nobody can say whether the trial passed",
            hint="Give its Task a scorer.",
        )
    names: list[str] = []
    rewards: dict[str, float] = {}
    reward = math.nan
    for scorer in scorers:
        name = unique_scorer_name(scorer, names)
        values = _values(name, await _score(name, scorer, state, target))
        if not names:
            reward = min(values.values())
        rewards |= values
        names.append(name)
    return Verdict(reward=reward, rewards=rewards, checks=None, passed=reward >= pass_reward)


async def _score(name: str, scorer: Scorer, state: TaskState, target: Target) -> Score:
    try:
        score = await scorer(state, target)
    except LimitExceededError:
        raise
    except (Exception, SystemExit) as error:
        raise GraderError(f"the scorer {name} failed: {type(error).__name__}: {error}") from error
    if score is None:
        raise GraderError(f"the scorer {name} gave no score")
    if not isinstance(cast("object", score), Score):
        raise GraderError(
            f"the scorer {name} gave {type(score).__name__} {str(score)[:100]!r}, which is no Score"
        )
    return score


def _values(name: str, score: Score) -> Mapping[str, float]:
    value = score.value
    if isinstance(value, Mapping):
        found = {f"{name}/{key}": _number(name, part) for key, part in value.items()}
    elif isinstance(value, str | bool | int | float):
        found = {name: _number(name, value)}
    else:
        found = {f"{name}/{index}": _number(name, part) for index, part in enumerate(value)}
    if not found:
        raise GraderError(f"the scorer {name} gave an empty score")
    return found


def _number(name: str, value: str | bool | float | None) -> float:
    if value is None or (isinstance(value, str) and not _stands_for_a_number(value)):
        raise GraderError(f"the scorer {name} gave {value!r}, which stands for no number")
    try:
        number = value_to_float()(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise GraderError(f"the scorer {name} gave what is no number: {error}") from error
    if not math.isfinite(number):
        raise GraderError(f"the scorer {name} gave {number}, which is no verdict")
    return number


def _stands_for_a_number(text: str) -> bool:
    if text.lower() in _WORDS:
        return True
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
