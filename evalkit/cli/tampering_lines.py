"""What is said of tampering below a run's trials?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evalkit.scoring.scored_trials import Column, ScoredTrials
from evalkit.scoring.tampered import CONFIRMED, Codes
from evalkit.stats.no_event import upper_share
from evalkit.trajectory.finding import CODES

_MOST_LINES = 3


def tampering_lines(scored: ScoredTrials, tampered: Mapping[str, Codes]) -> Iterator[str]:
    """A line for each kind that is confirmed, and for agents without any up to how often they may have one; nothing
    where no scorer looked.
    """
    columns = [column for (_, metric), column in scored.columns.items() if metric == CONFIRMED]
    if not columns:
        return
    shown = {trial.trial_id for trial in scored.trials}
    kinds = Counter(code for trial, codes in tampered.items() if trial in shown for code in codes.confirmed)
    told: Mapping[str, str] = {**CODES}
    for code in [code for code in (*told, "tampering") if kinds[code]]:
        many = f"{kinds[code]} trial{'s' if kinds[code] != 1 else ''}"
        yield f"tampered with, confirmed: {code} {told.get(code, '')} in {many}".replace("  ", " ")
    yield from _without(scored, columns)


def _without(scored: ScoredTrials, columns: Sequence[Column]) -> Iterator[str]:
    """How often agents without any may have it: one line for all on as many tasks, at most a few."""
    alike: dict[int, list[str]] = {}
    for agent in dict.fromkeys(trial.agent for trial in scored.trials):
        own = [place for place, trial in enumerate(scored.trials) if trial.agent == agent]
        values = np.array(
            [max(np.nan_to_num(column.values[place], nan=-1) for column in columns) for place in own]
        )
        tasks = {
            scored.trials[place].unit[:2] for place, value in zip(own, values, strict=True) if value >= 0
        }
        if tasks and not (values > 0).any():
            alike.setdefault(len(tasks), []).append(agent)
    if len(alike) > _MOST_LINES:
        few, many = min(alike), max(alike)
        agents = sum(map(len, alike.values()))
        yield _bound(f"{agents} agents", f"{few} to {many} tasks each", f"{_share(many)} to {_share(few)}")
        return
    for number, agents in alike.items():
        who = agents[0] if len(agents) == 1 else f"{len(agents)} agents"
        tasks = f"{number} task{'s' if number != 1 else ''}{' each' if len(agents) > 1 else ''}"
        yield _bound(who, tasks, _share(number))


def _share(tasks: int) -> str:
    return f"{100 * (upper_share(tasks) or 0.0):.2g}"


def _bound(who: str, tasks: str, upper: str) -> str:
    return f"no tampering confirmed of {who} on {tasks}: up to {upper} % of further tasks may have some"
