"""Does what an agent loop asks for by itself go together with the level of thinking that it was given?

Two settings that say different things about one call are never sent: which of them a provider takes is a guess, and
where evalkit's own were written over the loop's, nobody would know.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.errors import ModelError
from evalkit.models.thinking import tokens_in
from evalkit.models.thinking_sent import contradicts, knobs, level_of
from evalkit.models.thinking_wire import ThinkingWire


def check_settings(name: str, wire: ThinkingWire, parameters: Mapping[str, object]) -> None:
    """Raise ModelError for parameters of a call, of an agent loop's own, that contradict a level or each other.

    Nothing has been sent yet. A loop that asks for the very level that it was given contradicts nothing.
    """
    own = knobs(parameters)
    told = level_of(own)
    if contradicts(own):
        raise ModelError(
            f"{name} was not asked: the agent loop's own settings name several levels of thinking: {told}",
            hint="Let the loop set one of them, or none, and give the level with --thinking.",
        )
    if own and wire.level != "default" and told not in {wire.level, level_of(knobs(wire.body))}:
        raise ModelError(
            f"{name} was not asked: the agent loop itself asks for thinking {told}, and --thinking says {wire.level}",
            hint="Take the setting out of the loop, or use --thinking default.",
        )
    _check_room(name, wire, parameters, tokens_in(told))


def _check_room(name: str, wire: ThinkingWire, parameters: Mapping[str, object], own: int | None) -> None:
    most, bound = parameters.get("max_tokens"), wire.bound
    if not isinstance(most, int):
        return
    if bound is not None and most != bound:
        raise ModelError(
            f"{name} was not asked: it can only be bounded by the tokens of its whole answer, and two numbers are "
            f"given: {bound} for thinking, and max_tokens {most}",
            hint="Give one of them.",
        )
    budget = own or tokens_in(level_of(knobs(wire.body)))
    if bound is None and budget is not None and most <= budget:
        raise ModelError(
            f"{name} was not asked: it cannot think with {budget} tokens in an answer of {most} (max_tokens)",
            hint="The budget must be below the tokens of one answer.",
        )
