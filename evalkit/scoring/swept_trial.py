# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""How much was a trial to think, what did it spend, and did it pass?"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.trajectory.reader import Run

_COLUMNS = (
    "trial_id",
    "agent",
    "model",
    "thinking",
    "thinking_taken",
    "thinking_sent",
    "thinking_honoured",
    "output_tokens",
    "cost_usd",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptTrial:
    """A scored trial without faults."""

    agent: str
    """As it is called where it is shown."""
    family: str
    """The agent's id without its level of thinking."""
    run: str
    """Its id."""
    model: str | None
    asked: str | None
    taken: str | None
    """The nearest level that was taken instead; None: the one asked for."""
    sent: str | None
    honoured: bool | None
    task: str
    skills: tuple[str, ...]
    difficulty: str | None
    success: float
    """1 where it passed and is not confirmed to be tampered with."""
    tokens: float | None
    """Generated ones."""
    usd: float | None
    adherence: float | None
    overshoot: float | None


def swept_trials(run: Run, scored: ScoredTrials) -> tuple[SweptTrial, ...]:
    """The scored trials of a run without faults, in order; `scored` may call agents otherwise than the run.

    Success is that of the scorer of this name where it has scored the run, else the graders' word.
    """
    rows = run.trials.to_table(list(_COLUMNS))
    columns = {name: rows.column(name).to_pylist() for name in _COLUMNS}
    place_of = {trial_id: place for place, trial_id in enumerate(columns["trial_id"])}
    success = scored.columns.get(("success", "success"), scored.outcomes).values
    adherence, overshoot = (_known(scored, name) for name in ("budget_adherence", "budget_overshoot"))
    found: list[SweptTrial] = []
    for place, trial in enumerate(scored.trials):
        if trial.variant != "clean" or math.isnan(success[place]):
            continue
        own = {name: columns[name][place_of[trial.trial_id]] for name in _COLUMNS}
        found.append(
            SweptTrial(
                agent=trial.agent,
                family=family_of(own["agent"], own["thinking"]),
                run=run.manifest.run_id,
                model=own["model"],
                asked=own["thinking"],
                taken=own["thinking_taken"],
                sent=own["thinking_sent"],
                honoured=own["thinking_honoured"],
                task=f"{trial.suite}/{trial.task_id}",
                skills=trial.skills,
                difficulty=trial.difficulty,
                success=float(success[place]),
                tokens=own["output_tokens"],
                usd=own["cost_usd"],
                adherence=adherence(place),
                overshoot=overshoot(place),
            )
        )
    return tuple(found)


def family_of(agent: str, asked: str | None) -> str:
    """The agent's id without its level: `react/m@effort:xhigh~high+terse#1a` is of `react/m+terse#1a`."""
    if asked in {None, "default"}:
        return agent
    level = rf"@{re.escape(str(asked))}(~[a-z0-9:]+)?(?=[+@]|$)"
    found = list(re.finditer(level, agent))
    return agent[: found[-1].start()] + agent[found[-1].end() :] if found else agent


def by_task(trials: Sequence[SweptTrial], value: Callable[[SweptTrial], float | None]) -> dict[str, float]:
    """The mean of what is known, of each task of which anything is."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if (known := value(trial)) is not None:
            found[trial.task].append(known)
    return {task: math.fsum(own) / len(own) for task, own in found.items()}


def _known(scored: ScoredTrials, metric: str) -> Callable[[int], float | None]:
    column = scored.columns.get(("pondering", metric))

    def known(place: int) -> float | None:
        if column is None or math.isnan(column.values[place]):
            return None
        return float(column.values[place])

    return known
