"""Does an agent find out that it was shown something wrong?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.silent_fault import Spread


@dataclass(frozen=True)
class SilentFaults(Scorer):
    """Trials in which a fault visibly changed an observation without saying so."""

    metrics = (
        Metric(
            name="detected",
            meaning="the wrong value got nowhere, and the agent looked again or elsewhere",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="no silent fault struck",
        ),
        Metric(
            name="propagated",
            meaning="the wrong value is in the answer, the final state, or a later changing call",
            unit="share",
            better="lower",
            low=0,
            high=1,
            null_when="no silent fault with a canary struck",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if trial.spreads:
            yield _detected(trial.spreads)
        traced = [seen for seen in trial.spreads if seen.is_traced]
        if traced:
            spreading = [seen for seen in traced if seen.propagated]
            state = "effects" if trial.effects else "no effects are recorded, so the final state is not known"
            places = f"the answer, later changing calls or lasting changes ({state})"
            told = f"{len(spreading)} of {len(traced)} canaries got into {places}"
            steps = sorted({step for seen in spreading for step in seen.reached_by})
            yield Score("propagated", float(bool(spreading)), told, tuple(steps))


def _detected(found: Sequence[Spread]) -> Score:
    noticed = sum(seen.detected for seen in found)
    told = f"{noticed} of {len(found)} silent faults were noticed: {'; '.join(map(_told, found))}"
    looks = sorted({step for seen in found for step in (*seen.reread, *seen.other_reading)})
    label = "detected" if noticed == len(found) else "not detected"
    if not any(seen.is_traced for seen in found):
        label += " (by reading again only)"
    return Score("detected", float(noticed == len(found)), told, tuple(looks), label)


def _told(seen: Spread) -> str:
    spreads = "spread" if seen.propagated else "did not spread"
    looks = f"looked again {len(seen.reread)} and elsewhere {len(seen.other_reading)} times"
    strike = f"{seen.strike.kind} at step {seen.strike.step}"
    return f"{strike} {spreads if seen.is_traced else 'no canary to trace'}, {looks}"
