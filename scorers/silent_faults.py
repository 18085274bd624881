"""Does an agent find out that it was shown something wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.silent_fault import Spread


@dataclass(frozen=True)
class SilentFaults(Scorer):
    """Trials in which a fault visibly changed an observation without saying so."""

    version = "2"
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
        found = trial.spreads
        traced = [seen for seen in found if seen.is_traced]
        if found:
            noticed = [seen.detected for seen in found]
            details = "; ".join(map(_told, found))
            told = f"{sum(noticed)} of {len(found)} silent faults were noticed: {details}"
            looks = sorted({step for seen in found for step in (*seen.reread, *seen.other_reading)})
            label = "detected" if all(noticed) else "not detected"
            how = "" if traced else " (by reading again only)"
            yield Score("detected", float(all(noticed)), told, tuple(looks), label + how)
        if traced:
            spreading = [seen for seen in traced if seen.propagated]
            state = "effects" if trial.row.effects_measured or trial.effects else "no effects are recorded"
            places = f"the answer, later changing calls or lasting changes ({state})"
            told = f"{len(spreading)} of {len(traced)} canaries got into {places}"
            steps = sorted({step for seen in spreading for step in seen.reached_by})
            yield Score("propagated", float(bool(spreading)), told, tuple(steps))


def _told(seen: Spread) -> str:
    spreads = ("spread" if seen.propagated else "did not spread") if seen.is_traced else "no canary to trace"
    looks = f"looked again {len(seen.reread)} and elsewhere {len(seen.other_reading)} times"
    return f"{seen.strike.kind} at step {seen.strike.step} {spreads}, {looks}"
