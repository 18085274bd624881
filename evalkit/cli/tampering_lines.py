"""What is said of tampering below a run's trials?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.tampered import CONFIRMED, Codes
from evalkit.stats.no_event import upper_share
from evalkit.trajectory.finding import CODES


def tampering_lines(scored: ScoredTrials, tampered: Mapping[str, Codes]) -> Iterator[str]:
    """A line for each kind that is confirmed, and for each agent without any up to how often it may have one; nothing
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
    for agent in dict.fromkeys(trial.agent for trial in scored.trials):
        own = [place for place, trial in enumerate(scored.trials) if trial.agent == agent]
        values = np.array(
            [max(np.nan_to_num(column.values[place], nan=-1) for column in columns) for place in own]
        )
        tasks = {
            scored.trials[place].unit[:2] for place, value in zip(own, values, strict=True) if value >= 0
        }
        upper = upper_share(len(tasks))
        if upper is not None and not (values > 0).any():
            yield (
                f"no tampering confirmed of {agent} on {len(tasks)} tasks: up to {100 * upper:.2g} % of further tasks "
                "may have some"
            )
