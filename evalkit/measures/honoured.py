"""Did an agent keep to the thinking budget that it was given?"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.measures.budget_kept import held_to, spent_of
from evalkit.trajectory.step import Think


def honoured(asked: str, thinks: Iterable[Think], *, taken: str | None = None) -> bool | None:
    """Whether every generation kept to a level of thinking, as `off` or `tokens:2048`, or to the nearest one `taken`.

    With h the reasoning tokens of one generation: False where any known h is above the number of tokens, or above 0
    with `off` (thinking that can be read is above 0, whatever the count says, and whatever was taken for `off`); True
    where all are known and kept to it; else None. None for every other level, which bounds nothing, and where nothing
    was generated.
    """
    most = held_to(asked, taken)
    if most is None:
        return None
    kept = [spent_of(think, most) for think in thinks]
    if any(spent.is_beyond for spent in kept):
        return False
    return True if kept and all(spent.is_known for spent in kept) else None
