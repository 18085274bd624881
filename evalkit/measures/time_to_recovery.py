"""How long did it take to put a failure right, in steps, tokens and seconds?

A step is a model generation. What counts are the generations after the failed call up to the one that asked for the
call that put it right: none where both were asked for at once. Whoever ends an episode without putting it right, by
submitting, giving up or refusing, never recovered: it sits at the horizon, the most that any trial may take. Where a
limit, a failure of the infrastructure or a cancellation ended it, it was only not seen to recover by then (censored).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from evalkit.measures.episode import Episode
from evalkit.measures.waited import Waited
from evalkit.trajectory.step import Step, Think

_CUT_OFF = frozenset(
    {"step_limit", "token_limit", "cost_limit", "time_limit", "context_limit", "error", "cancelled"}
)


def ended_by_itself(stop_reason: str | None) -> bool:
    """Whether the agent ended its trial: it submitted, gave up or refused. So, too, where nothing else is known."""
    return stop_reason not in _CUT_OFF


@dataclass(frozen=True, slots=True)
class Passing:
    """What passes between two steps of a trial."""

    generations: tuple[int, ...]
    """Steps of the generations."""
    tokens: tuple[int, ...]
    """Output tokens before each generation, and in all; unknown ones are left out."""
    unknown: tuple[int, ...]
    """How many generations before each, and in all, do not tell their tokens."""
    ends: dict[int, datetime]
    """When a step was over, where the record tells."""
    last: datetime | None
    """When the last step was over."""

    def steps(self, start: int, end: int | None) -> float | None:
        """Generations after one step up to another, or to the trial's end. None where no generation is recorded."""
        first, last = self._between(start, end)
        return float(last - first) if self.generations else None

    def output_tokens(self, start: int, end: int | None) -> float | None:
        """Of those generations. None where one of them does not tell."""
        first, last = self._between(start, end)
        if not self.generations or self.unknown[first] != self.unknown[last]:
            return None
        return float(self.tokens[last] - self.tokens[first])

    def seconds(self, start: int, end: int | None) -> float | None:
        """From the end of one step to that of another, or to the trial's end. None where one is unknown or absurd."""
        begin, finish = self.ends.get(start), self.last if end is None else self.ends.get(end)
        if begin is None or finish is None or finish < begin:
            return None
        return (finish - begin).total_seconds()

    def _between(self, start: int, end: int | None) -> tuple[int, int]:
        first = bisect_right(self.generations, start)
        last = len(self.generations) if end is None else bisect_right(self.generations, end)
        return first, max(first, last)


def passing(steps: Sequence[Step], *, marks: Iterable[int]) -> Passing:
    """What passes in a trial; `marks` are the steps whose end is asked for."""
    thinks = [step for step in steps if isinstance(step, Think)]
    wanted = set(marks)
    ends = {step.step: end for step in steps if step.step in wanted and (end := _end(step)) is not None}
    last = next((end for step in reversed(steps) if (end := _end(step)) is not None), None)
    return Passing(
        generations=tuple(think.step for think in thinks),
        tokens=tuple(accumulate((think.output_tokens or 0 for think in thinks), initial=0)),
        unknown=tuple(accumulate((think.output_tokens is None for think in thinks), initial=0)),
        ends=ends,
        last=last,
    )


def marks_of(episodes: Iterable[Episode]) -> Iterable[int]:
    """The steps at which episodes open and close."""
    for episode in episodes:
        yield episode.opened_at
        if episode.closed_at is not None:
            yield episode.closed_at


def waited(taken: float | None, *, recovered: bool, by_itself: bool, horizon: float | None) -> Waited | None:
    """One episode's time: as long as it took, at the horizon, or as long as it was seen. None where that is unknown."""
    if recovered:
        return None if taken is None else Waited(taken, happened=True)
    if by_itself and (horizon is not None or taken is not None):
        return Waited(max(horizon or 0.0, taken or 0.0), happened=False)
    return None if taken is None else Waited(taken, happened=False)


def _end(step: Step) -> datetime | None:
    if step.started_at is None:
        return None
    try:
        return step.started_at + timedelta(seconds=step.duration_s or 0.0)
    except OverflowError:
        return None
