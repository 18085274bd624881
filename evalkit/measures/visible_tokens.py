"""How many tokens can a visible text be, if nobody has counted them?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from evalkit.trajectory.step import Act, Step, Think

_PIECE = re.compile(r"\w+|[^\w\s]+")
_FRAME = 64
"""Tokens that may stand around a text or a call."""


def visible_tokens(steps: Iterable[Step]) -> tuple[int, int]:
    """The least and the most tokens of everything that generations said and called.

    Hardly a tokenizer joins two words, and none makes more tokens of a text than it has bytes.
    """
    least = most = 0
    for step in steps:
        if isinstance(step, Think):
            text = step.text or ""
        elif isinstance(step, Act) and step.think_step is not None:
            text = f"{step.tool or ''} {step.arguments or step.arguments_raw or ''}"
        else:
            continue
        least += len(_PIECE.findall(text))
        most += len(text.encode("utf-8", "replace")) + _FRAME
    return least, most


def hidden_tokens(
    thinks: Iterable[Think], *, visibility: str | None, budget: int | None, honoured: bool | None
) -> int | None:
    """The most thinking tokens that there can have been; None where nobody knows.

    A model that does not think has none, thinking that is shown in full no more than it has bytes; and a budget holds
    for each generation, unless it is known to be broken.
    """
    if visibility == "none":
        return 0
    most = 0
    for think in thinks:
        if (think.reasoning_visibility or visibility) == "full":
            most += len((think.reasoning or "").encode("utf-8", "replace"))
        elif budget is not None and honoured is not False:
            most += budget
        else:
            return None
    return most
