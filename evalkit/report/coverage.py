"""What do a board's numbers not cover?"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evalkit.errors import NotComparable, UsageError
from evalkit.report.command import quoted
from evalkit.report.entrant import Entrant
from evalkit.report.shown_text import name
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.trajectory.reader import Run
from evalkit.trajectory.unfinished import missing, why_missing

Task = tuple[str, str]
Runs = Sequence[tuple[str, Run]]


def tasks_by_agent(scored: ScoredTrials) -> dict[str, frozenset[Task]]:
    """The tasks, by suite and id, that each agent tried without faults."""
    found: defaultdict[str, set[Task]] = defaultdict(set)
    for trial in scored.trials:
        own = found[trial.agent]
        if trial.variant == "clean":
            own.add(trial.unit[:2])
    return {agent: frozenset(own) for agent, own in found.items()}


def check_trials(runs: Runs, parts: Sequence[ScoredTrials]) -> None:
    """Raise UsageError for a run without trials: it has nothing to stand on a board."""
    for (run_name, run), part in zip(runs, parts, strict=True):
        if not part.trials:
            planned = len(run.manifest.planned)
            why = f" ({why_missing(run.path)})" if planned else ""
            raise UsageError(
                f"the run has no trials{f' of {planned} planned' if planned else ''}{why}",
                where=run_name,
                hint="A report needs at least one trial that is done.",
            )


def check_common(entrants: Sequence[Sequence[Entrant]], tasks: Mapping[str, frozenset[Task]]) -> None:
    """Raise NotComparable where agents of two runs have no task in common: a rank of theirs would say nothing."""
    for ours, theirs in itertools.combinations(entrants, 2):
        for a, b in itertools.product(ours, theirs):
            if not tasks[a.name] & tasks[b.name]:
                raise NotComparable(
                    f"{a.name} of {a.run} and {b.name} of {b.run} have no task in common",
                    hint="Make a report of each: agents on different tasks have no place in one table.",
                )


def notes_of(
    runs: Runs, parts: Sequence[ScoredTrials], tasks: Mapping[str, frozenset[Task]]
) -> tuple[str, ...]:
    """Sentences, safe to show: what is missing, whose tasks differ, and what is not scored."""
    return (
        *_missing(runs, parts),
        *_different(tasks),
        *_versions(parts),
        *_not_scored(runs, parts),
    )


def unscored_runs(runs: Runs, parts: Sequence[ScoredTrials]) -> frozenset[str]:
    """The names of the runs that no scorer has scores of."""
    return frozenset(
        name(run_name) for (run_name, _), part in zip(runs, parts, strict=True) if not part.scored_by
    )


def _missing(runs: Runs, parts: Sequence[ScoredTrials]) -> Iterator[str]:
    for (run_name, run), part in zip(runs, parts, strict=True):
        planned = run.manifest.planned
        if lacking := missing(planned, part.trials):
            yield (
                f"{lacking} of {len(planned)} planned trials of {name(run_name)} have no row, and no number counts "
                f"them: {name(why_missing(run.path))}"
            )


def _different(tasks: Mapping[str, frozenset[Task]]) -> Iterator[str]:
    if len(set(tasks.values())) < 2:
        return
    common, every = frozenset[Task].intersection(*tasks.values()), frozenset[Task]().union(*tasks.values())
    yield (
        f"The agents have different tasks: {len(common)} of {len(every)} tasks are common to all. Each number, and "
        "the frontier, is of the agent's own tasks (column tasks); ranks compare agents in "
        "pairs, at the tasks that both tried."
    )


def _versions(parts: Sequence[ScoredTrials]) -> Iterator[str]:
    found: defaultdict[Task, set[str]] = defaultdict(set)
    for trial in itertools.chain.from_iterable(part.trials for part in parts):
        if trial.task_digest is not None:
            found[trial.unit[:2]].add(trial.task_digest)
    changed = sorted(task for task, digests in found.items() if len(digests) > 1)
    if changed:
        yield (
            f"{len(changed)} tasks are not the same version for all agents, such as {name('/'.join(changed[0]))}: "
            "their numbers are of different tasks."
        )


def _not_scored(runs: Runs, parts: Sequence[ScoredTrials]) -> Iterator[str]:
    for (run_name, _), part in zip(runs, parts, strict=True):
        command = name(f"evalkit score {quoted(run_name)}")
        if not part.scored_by:
            yield (
                f"{name(run_name)} is not scored, so that only what its graders said is known: pass^1 stands for "
                f"success, and all other columns are empty. Score it: {command}"
            )
            continue
        partly = {scorer: int((~seen).sum()) for scorer, seen in part.scored_by.items() if not seen.all()}
        if partly:
            told = ", ".join(
                f"{count} by {name(scorer)}" for scorer, count in sorted(partly.items())[:_NAMED]
            )
            yield f"Of {len(part.trials)} trials of {name(run_name)} are not scored: {told}. Score them: {command}"


_NAMED = 8
