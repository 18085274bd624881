"""What is the cost of one trial measured against?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.measures.spending import Basis


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialReference:
    """What a trial is measured against."""

    basis: Basis
    cost: float | None
    """L; None for a task without one."""
    is_unsolved: bool = False
    """The reference knows the task, and nobody has solved it: the first who does is as good as anybody ever was."""
    provisional: bool = False
    is_own: bool = False
    """It was made of the very run, and is not frozen."""
    mixed_tokenizers: bool = False
    """It counts tokens of several models, which do not mean the same."""
    digest: str

    @property
    def label(self) -> str | None:
        """Its reservations in words; None where there are none."""
        words = {
            "provisional": self.provisional,
            "own cohort": self.is_own,
            "mixed tokenizers": self.mixed_tokenizers,
        }
        return ", ".join(word for word, holds in words.items() if holds) or None
