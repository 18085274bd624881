"""Where nothing has happened so far, how often may it happen all the same?"""

from __future__ import annotations

_SHARE = 0.05


def upper_share(tasks: int) -> float | None:
    """The share of further tasks that may have an event of which none was seen on so many, 95 %; None on none."""
    return 1 - _SHARE ** (1 / tasks) if tasks > 0 else None
