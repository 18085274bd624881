"""Does an agent find out that it was shown something wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.fault_strike import Strike
from evalkit.measures.silent_fault import Spread, spread


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
        first: dict[str, Strike] = {}
        for strike in trial.strikes:
            if not strike.loud and strike.visible:
                first.setdefault(strike.fault_id, strike)
        found = [
            (
                strike,
                spread(strike, trial.acts, trial.actions, answer=trial.row.answer, effects=trial.effects),
            )
            for strike in first.values()
        ]
        if not found:
            return
        noticed = [seen.detected(traced=strike.canary is not None) for strike, seen in found]
        label = "detected" if all(noticed) else "not detected"
        if all(strike.canary is None for strike, _ in found):
            label += " (by reading again only)"
        told = f"{sum(noticed)} of {len(found)} silent faults were noticed: {'; '.join(_told(*one) for one in found)}"
        looks = tuple(sorted({step for _, seen in found for step in (*seen.reread, *seen.other_reading)}))
        yield Score("detected", float(all(noticed)), told, looks, label)
        traced = [(strike, seen) for strike, seen in found if strike.canary is not None]
        if traced:
            spreading = [(strike, seen) for strike, seen in traced if seen.propagated]
            state = "effects" if trial.effects else "no effects are recorded, so the final state is not known"
            places = f"the answer, later changing calls or lasting changes ({state})"
            told = f"{len(spreading)} of {len(traced)} canaries got into {places}"
            steps = tuple(sorted({step for _, seen in spreading for step in seen.reached_by}))
            yield Score("propagated", float(bool(spreading)), told, steps)


def _told(strike: Strike, seen: Spread) -> str:
    looks = f"looked again {len(seen.reread)} and elsewhere {len(seen.other_reading)} times"
    spreads = (
        "no canary to trace" if strike.canary is None else "spread" if seen.propagated else "did not spread"
    )
    return f"{strike.kind} at step {strike.step} {spreads}, {looks}"
