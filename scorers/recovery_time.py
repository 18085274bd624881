"""How long does an agent take to put right what went wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.time_to_recovery import ended_by_itself, marks_of, passing, waited
from evalkit.measures.waited import notation


def _time(name: str, meaning: str, unit: str) -> Metric:
    return Metric(
        name=name,
        meaning=f"{meaning} from a failure to where it was put right (median; _mean: restricted mean)",
        unit=unit,
        better="lower",
        low=0,
        null_when="nothing failed, or the record does not tell",
        aggregation="curve",
        curve="survival",
    )


@dataclass(frozen=True)
class RecoveryTime(Scorer):
    """Durations of episodes. The value is their mean, where `+` in the label marks what is only a lower bound."""

    version = "2"
    metrics = (
        _time("steps_to_recover", "generations", "steps"),
        _time("tokens_to_recover", "output tokens", "tokens"),
        _time("seconds_to_recover", "time", "s"),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        gone = passing(trial.steps, marks=marks_of(trial.episodes))
        by_itself = ended_by_itself(trial.row.stop_reason)
        for metric, taken, horizon in (
            ("steps_to_recover", gone.steps, trial.horizon or trial.cohort.most_steps),
            ("tokens_to_recover", gone.output_tokens, trial.cohort.most_tokens),
            ("seconds_to_recover", gone.seconds, trial.cohort.longest_s),
        ):
            times = [
                waited(
                    taken(episode.opened_at, episode.closed_at),
                    recovered=episode.recovered,
                    by_itself=by_itself,
                    horizon=horizon or None,
                )
                for episode in trial.episodes
            ]
            known = [time for time in times if time is not None]
            if known:
                unseen = "the agent ended it" if by_itself else "it was cut off"
                told = f"{len(known)} of {len(times)} episodes tell their time; + marks where {unseen} without recovery"
                opened = tuple(episode.opened_at for episode in trial.episodes)
                yield Score(metric, fmean(time.amount for time in known), told, opened, notation(known))
