"""Which arm of a run does a trial belong to?

Where faults are injected, the same tasks are tried without them, too. The arms are summed up apart, always.
"""

from __future__ import annotations

from typing import Literal

Arm = Literal["clean", "faulted", "twin"]
ARMS: tuple[Arm, ...] = ("clean", "faulted", "twin")


def arm_of(variant: str) -> Arm:
    """`clean`, `twin` for impossible twins, and `faulted` for every fault's variant."""
    if variant == "clean":
        return "clean"
    return "twin" if variant == "twin" else "faulted"
