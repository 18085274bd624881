"""Can a model be given the thinking budget that was asked for, and if not, what is nearest?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalkit.errors import UsageError
from evalkit.models.name import ModelName
from evalkit.models.sampling import Sampling
from evalkit.models.thinking import EFFORTS, Thinking, effort_in, tokens_in
from evalkit.models.thinking_table import Row, row_for

_EFFORT_TOKENS: Mapping[str, int] = dict(zip(EFFORTS, (512, 1024, 8192, 24576, 32768, 65536), strict=True))
"""Only to tell which level is nearer, never sent."""
_WORDS = 4096
"""Tokens that are proposed for what is said after thinking."""
_SOME = 8192
"""About as much as a model thinks that is only told to."""


def choose(model: ModelName, thinking: Thinking, sampling: Sampling, *, nearest: bool) -> Thinking:
    """The budget as it will be sent.

    Raises UsageError for a level that the model does not have, naming those that it has, unless the nearest is good
    enough, and for settings that do not go with it. Asks no endpoint.
    """
    if thinking.asked == "default":
        return thinking
    row = row_for(model)
    if row is None:
        raise UsageError(
            f"{model} cannot be given the thinking budget '{thinking}': it is not known what it takes",
            hint="Use --thinking default. What is known: evalkit models",
        )
    if row.has(thinking.asked):
        chosen = thinking
    elif nearest:
        chosen = Thinking(thinking.asked, nearest_level(row, thinking.asked))
    else:
        raise UsageError(
            f"{model} cannot be given the thinking budget '{thinking}'",
            hint=f"It takes {takes(row)}. --thinking-nearest would take {nearest_level(row, thinking.asked)}.",
        )
    _check_sampling(model, row, chosen, sampling)
    return chosen


def takes(row: Row) -> str:
    """The levels of a row as --thinking takes them, such as `default, off, low, or a number of tokens: 1 to 24576`."""
    words = ", ".join(level.removeprefix("effort:") for level in row.levels if level != "tokens:N")
    return f"{words}, or a number of tokens: {row.numbers}" if row.numbers else words


def nearest_level(row: Row, asked: str) -> str:
    """The level of a row that asks for an amount most like another; of two as near, the smaller.

    `on` and `dynamic` stand for each other first. A model without any level keeps its own: `default`.
    """
    number = tokens_in(asked)
    if number is not None and row.numbers and number > 0:
        return f"tokens:{_clamped(row, number)}"
    if asked in {"on", "dynamic"}:
        for other in ("dynamic", "on"):
            if row.has(other):
                return other
    efforts = [level for level in row.levels if effort_in(level)]
    known = [*(["off"] if row.has("off") else []), *efforts]
    if row.numbers and (asked == "off" or not efforts) and not (asked == "off" and row.bounds_answers):
        known.append(f"tokens:{_clamped(row, _amount(asked))}")
    if known in ([], ["off"]):
        known += [level for level in ("on", "dynamic") if row.has(level)]
    nearest = min(known, key=lambda level: (abs(_size(level) - _size(asked)), _size(level)), default=None)
    return nearest or "default"


def _clamped(row: Row, number: int) -> int:
    return min(max(number, row.least), row.most or max(number, row.least))


def _amount(level: str) -> int:
    number, effort = tokens_in(level), effort_in(level)
    if number is not None:
        return number
    if effort is not None:
        return _EFFORT_TOKENS[effort]
    return 0 if level == "off" else _SOME


def _size(level: str) -> float:
    return math.log2(1 + _amount(level))


def _check_sampling(model: ModelName, row: Row, thinking: Thinking, sampling: Sampling) -> None:
    thinks = thinking.level not in {"default", "off"}
    if thinks and not _goes_with(row, sampling.temperature):
        allowed = " or ".join(f"{one:g}" for one in row.temperatures or ())
        raise UsageError(
            f"{model} takes no temperature of {sampling.temperature:g} while it thinks ('{thinking}')",
            hint=f"Leave --temperature out{f', or set it to {allowed}' if allowed else ''}.",
        )
    number = _budget(row, thinking.level)
    if number is None:
        return
    if not row.bounds_answers:
        _check_below(model, row, thinking, number, sampling)
    elif sampling.max_tokens not in {None, number}:
        raise UsageError(
            f"{model} can only be bounded by the tokens of its whole answer, and two numbers are given: "
            f"{number} for thinking, --max-tokens {sampling.max_tokens}",
            hint="Give one of them.",
        )


def _goes_with(row: Row, temperature: float | None) -> bool:
    return temperature is None or row.temperatures is None or temperature in row.temperatures


def _budget(row: Row, level: str) -> int | None:
    """The tokens that a level sends, as a number or for an effort."""
    return row.tokens_for(level) or tokens_in(level)


def _check_below(model: ModelName, row: Row, thinking: Thinking, number: int, sampling: Sampling) -> None:
    most = sampling.max_tokens
    if most is not None and number >= most:
        raise UsageError(
            f"{model} cannot think with {number} tokens ('{thinking}') in an answer of {most}",
            hint=f"The budget must be below the tokens of one answer: --max-tokens {number + _WORDS}, or a smaller "
            "budget.",
        )
    if most is None and row.below_max_tokens and model.route == "litellm":
        from evalkit.models.prices import max_output_tokens

        most = max_output_tokens(model.name)
        if most is None:
            raise UsageError(
                f"it is not known how many tokens an answer of {model} can have, and {number} are to be for thinking",
                hint=f"Say how many, above {number}, such as --max-tokens {number + _WORDS}",
            )
        if number >= most:
            raise UsageError(
                f"{model} cannot think with {number} tokens ('{thinking}') in an answer of {most}, its longest",
                hint="The budget must be below that, with room for the answer itself.",
            )
