"""Did an agent keep to the thinking budget that it was given?"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.trajectory.step import Think


def honoured(level: str, thinks: Iterable[Think]) -> bool | None:
    """Whether every generation kept to a level of thinking, as `off` or `tokens:2048`.

    With h the reasoning tokens of one generation: False where any known h is above the number of tokens, or above 0
    with `off` (thinking that can be read is above 0, whatever the count says); True where all are known and kept to
    it; else None. None for every other level, which bounds nothing, and where nothing was generated.
    """
    most = 0 if level == "off" else _number(level)
    if most is None:
        return None
    kept = tuple(thinks)
    readable = [bool((think.reasoning or "").strip()) for think in kept]
    if most == 0 and any(readable):
        return False
    spent = [
        None if shown and think.reasoning_tokens == 0 else think.reasoning_tokens
        for think, shown in zip(kept, readable, strict=True)
    ]
    if any(tokens is not None and tokens > most for tokens in spent):
        return False
    return True if spent and None not in spent else None


def _number(level: str) -> int | None:
    kind, _, value = level.partition(":")
    return int(value) if kind == "tokens" and value.isdigit() else None
