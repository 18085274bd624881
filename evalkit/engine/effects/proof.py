"""What have the agents that prove a suite left behind, and what is learned from it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalkit.measures.caches import is_cache
from evalkit.tasks.learned import Learned
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.trial import Trial

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Left:
    """What one trial left that was not asked for, as resources."""

    forbidden: tuple[str, ...] = ()
    collateral: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    unmeasured: bool = False

    def without(self, noise: Iterable[str]) -> Left:
        """The same, where more is known to be noise."""
        known = frozenset(noise)
        kept = tuple(one for one in self.collateral if one not in known)
        return Left(self.forbidden, kept, self.noise, self.unmeasured)


def left_by(trial: Trial, effects: Sequence[Effect]) -> Left:
    """What a trial's rows tell."""

    def of(class_: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.resource for one in effects if one.class_ == class_))

    return Left(of("forbidden"), of("collateral"), of("noise"), unmeasured=trial.effects_measured is False)


def learned_from(trials: Iterable[Trial], left: Mapping[str, Left]) -> Learned | None:
    """What the trials of one task without faults teach: whatever changes where nobody does anything, and caches that
    the oracle leaves. None where doing nothing was not judged and measured.
    """
    noise: set[str] = set()
    passing: set[str] = set()
    known = False
    for trial in trials:
        own = left.get(trial.trial_id, Left(unmeasured=True))
        if trial.model == "scripted/nop" and trial.status != "unscored" and not own.unmeasured:
            known = True
            noise.update(own.collateral, own.noise)
            passing.update(check for check, passed in (trial.checks or {}).items() if passed)
        elif trial.model == "scripted/oracle":
            noise.update(one for one in own.noise if is_cache([one]))
    return Learned(tuple(sorted(noise)), tuple(sorted(passing))) if known else None


def complaints(who: str, left: Left) -> list[str]:
    """Why what it left makes a task unfit."""
    found = [f"the side effects of {who} could not be measured"] if left.unmeasured else []
    if left.forbidden:
        found.append(f"{who} changes what is forbidden: {_names(left.forbidden)}")
    if left.collateral:
        found.append(
            f"{who} leaves what is neither allowed nor noise: {_names(left.collateral)}; "
            "declare it under [metadata.evalkit.effects], or take it out of the solution"
        )
    return found


def _names(resources: Sequence[str]) -> str:
    further = len(resources) - _NAMED
    return ", ".join(resources[:_NAMED]) + (f" and {further} more" if further > 0 else "")
