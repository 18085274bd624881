"""What is one lasting change that a trial made outside its own messages?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from evalkit.trajectory.bounds import check_amounts, check_counts, check_words

Channel = Literal["file", "process", "socket", "git", "package", "network", "row"]
Change = Literal["created", "modified", "deleted", "mode", "killed", "sent"]
EffectClass = Literal["intended", "noise", "collateral", "forbidden"]

_WORDS = {
    "channel": frozenset(get_args(Channel)),
    "change": frozenset(get_args(Change)),
    "class_": frozenset(get_args(EffectClass)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One row of `effects`."""

    trial_id: str
    step: int | None = None
    """The act it is attributed to; None where no single one is known."""
    channel: Channel
    resource: str
    change: Change
    before: str | None = None
    """Digest or value."""
    after: str | None = None
    """Digest or value."""
    bytes: int | None = None
    class_: EffectClass | None = None
    """Stored in the column `class`."""
    irreversible: bool | None = None
    transient: bool | None = None
    severity: float | None = None
    evidence: tuple[int, ...] = ()
    """Numbers of the steps that show it."""

    def __post_init__(self) -> None:
        check_words(self, _WORDS)
        check_counts(self, ("step", "bytes"))
        check_amounts(self, ("severity",))
