"""Does an agent go round in circles, as its working directory tells?"""

from __future__ import annotations

from collections.abc import Iterable


def state_revisits(digests: Iterable[str | None]) -> int | None:
    """How often the workspace returns to an earlier state after leaving it, in [0, calls).

    From the workspace digest after each call, in order; unknown ones are passed over. None where none is known.
    """
    seen: set[str] = set()
    last: str | None = None
    revisits = 0
    for digest in digests:
        if digest is None or digest == last:
            continue
        revisits += digest in seen
        seen.add(digest)
        last = digest
    return revisits if seen else None
