"""Which reference costs do the trials of some runs make?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.errors import NotComparable
from evalkit.measures.reference_cost import Success, reference_cost
from evalkit.measures.spending import Basis, cost_of, cost_to_pass
from evalkit.scoring.earning import tampered_trials
from evalkit.scoring.reference import Reference, TaskReference
from evalkit.scoring.trial import Trial
from evalkit.trajectory.checkpoint_events import checkpointed_trials
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial as TrialRow

BASES: tuple[Basis, ...] = ("output_tokens", "cost_usd")
"""Between which is chosen where none is asked for."""


@dataclass(slots=True)
class _Tried:
    """What is known of one task."""

    digest: str | None = None
    is_ambiguous: bool = False
    """Its trials are of different versions of it."""
    successes: defaultdict[Basis, list[Success]] = field(
        default_factory=lambda: defaultdict[Basis, list[Success]](list)
    )
    solved: Counter[str] = field(default_factory=Counter[str])
    """Successes by agent, also those whose cost nobody knows."""


def build_reference(runs: Sequence[Run], *, basis: Basis | None = None, is_own: bool = False) -> Reference:
    """The reference of the clean trials of these runs, taken as one cohort.

    Without a basis: generated tokens, but US dollars where agents of several models have a price, as their tokens do
    not mean the same. Confirmed tampering is no success. A task that nobody solved is excluded; one of which no success
    has a known cost has none, which is not 0.
    Raises NotComparable where a task is another one in some of the trials; a run's own reference leaves it out.
    """
    tried: dict[str, _Tried] = {}
    models: set[str] = set()
    wanted = BASES if basis is None else (basis,)
    for run in runs:
        for trial, earned in _clean_trials(run, wanted):
            name = f"{trial.row.suite}/{trial.row.task_id}"
            own = tried.setdefault(name, _Tried())
            told = trial.row.task_digest
            if own.digest and told and own.digest != told:
                own.is_ambiguous = True
            own.digest = own.digest or told
            models.add(_model(trial.row))
            if earned:
                own.solved[trial.row.agent] += 1
                _add(own, trial, wanted)
    ambiguous = sorted(name for name, own in tried.items() if own.is_ambiguous)
    if ambiguous and not is_own:
        raise _other_task(ambiguous[0])
    for name in ambiguous:
        del tried[name]
    chosen = basis or _basis(tried, models)
    tasks = {name: _task(own, chosen) for name, own in sorted(tried.items())}
    return Reference(
        basis=chosen,
        tasks={name: own for name, own in tasks.items() if own is not None},
        excluded=tuple(name for name, own in tasks.items() if own is None),
        versions={
            name: digest for name, own in tasks.items() if own is None and (digest := tried[name].digest)
        },
        models=tuple(sorted(models)),
        is_own=is_own,
    )


def _clean_trials(run: Run, wanted: Sequence[Basis]) -> Iterator[tuple[Trial, bool]]:
    """Scored ones and whether they are successes, with their steps where rows alone do not tell what one cost."""
    tampered = tampered_trials(run)
    if not checkpointed_trials(run) and all(_tells(row, wanted) for row in run.iter_rows()):
        trials = (Trial(row=row) for row in run.iter_rows())
    else:
        trials = (Trial(row=row, steps=steps) for row, steps in run.iter_trials())
    for trial in trials:
        if trial.row.variant == "clean" and trial.passed is not None:
            yield trial, trial.passed and trial.row.trial_id not in tampered


def _tells(row: TrialRow, wanted: Iterable[Basis]) -> bool:
    """Whether the row of a success has all that its steps could tell; prices are in the row or nowhere."""
    columns = [basis for basis in wanted if basis != "cost_usd"]
    return row.status != "passed" or all(getattr(row, name) is not None for name in ("tool_calls", *columns))


def _model(row: TrialRow) -> str:
    """Scripted agents count their tokens all in the same way."""
    name = row.model or row.model_served or ""
    return "scripted" if name.startswith("scripted/") else name


def _add(own: _Tried, trial: Trial, wanted: Iterable[Basis]) -> None:
    row, steps = trial.row, trial.steps
    calls = row.tool_calls if row.tool_calls is not None or not steps else len(trial.acts)
    for basis in wanted:
        cost = cost_to_pass(row, steps, trial.states, basis, passed=True)
        if cost is None:
            cost = cost_of(row, steps, basis)
        if cost is not None:
            own.successes[basis].append(Success(row.agent, cost, calls))


def _basis(tried: Mapping[str, _Tried], models: set[str]) -> Basis:
    priced = all(len(own.successes["cost_usd"]) == own.solved.total() for own in tried.values())
    costs = (success.cost for own in tried.values() for success in own.successes["cost_usd"])
    return "cost_usd" if len(models) > 1 and priced and any(cost > 0 for cost in costs) else "output_tokens"


def _task(own: _Tried, basis: Basis) -> TaskReference | None:
    if not own.solved:
        return None
    found = reference_cost(own.successes[basis], basis)
    if found is None:
        return TaskReference(
            digest=own.digest, cost=None, successes=0, agents=len(own.solved), provisional=True, agent=None
        )
    return TaskReference(
        digest=own.digest,
        cost=found.cost,
        calls=found.calls,
        successes=found.successes,
        agents=len(own.solved),
        provisional=found.provisional,
        agent=found.agent,
    )


def _other_task(name: str) -> NotComparable:
    return NotComparable(
        f"the task {name} is another one in some of these trials",
        hint="Build the reference from runs of the same tasks only.",
    )
