"""What was asked, sent and kept to of thinking budgets?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from evalkit.cli.prose import one_line
from evalkit.trajectory.trial import Trial

_KEPT = {True: "kept to", False: "not kept to"}


def thinking_of(trial: Trial) -> str | None:
    """One trial's budget in a few words; None where none was asked for and none sent."""
    asked, sent, kept = trial.thinking or "unknown", trial.thinking_sent, trial.thinking_honoured
    if asked in {"default", "unknown"} and sent in {None, "default"}:
        return None
    words = f"thinking {asked}, sent {sent or 'unknown'}"
    return f"{words}, {_KEPT[kept]}" if kept is not None else words


def about_thinking(trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each agent for which another budget was sent than asked for, or that did not keep to its own."""
    differing: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    broken: defaultdict[str, int] = defaultdict(int)
    judged: defaultdict[str, int] = defaultdict(int)
    for trial in trials:
        if trial.thinking_sent not in {None, trial.thinking} and trial.thinking is not None:
            differing[trial.agent, trial.thinking, str(trial.thinking_sent)] += 1
        if trial.thinking_honoured is not None:
            judged[trial.agent] += 1
            broken[trial.agent] += not trial.thinking_honoured
    for (agent, asked, sent), count in differing.items():
        yield f"thinking of {one_line(agent)}: asked for {asked}, sent {one_line(sent)} ({_trials(count)})"
    for agent, count in broken.items():
        if count:
            yield f"thinking of {one_line(agent)}: the budget was not kept to in {count} of {_trials(judged[agent])}"


def _trials(count: int) -> str:
    return f"{count} trial{'' if count == 1 else 's'}"
