"""Which of a run's trials did somebody ask to see?"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Protocol, get_args

import typer

from evalkit.cli.splitting import split
from evalkit.errors import UsageError
from evalkit.scoring.arm import ARMS, arm_of
from evalkit.trajectory.trial import Status

TaskOption = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="Only tasks whose id or SUITE/ID matches; with ! before it, all others.",
        metavar="GLOB,...",
    ),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option("--agent", help="Only the agent of this id, or those whose ids hold this.", metavar="ID"),
]
StatusOption = Annotated[
    list[str] | None,
    typer.Option("--status", help="Only trials that passed, failed, or are unscored.", metavar="WORD,..."),
]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant", help="Only clean, faulted or twin trials, or those of a fault.", metavar="GLOB,..."
    ),
]


class Kept(Protocol):
    """What a trial, or a planned one, is known by."""

    @property
    def suite(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def agent(self) -> str: ...


class Judged(Kept, Protocol):
    """One that has come to an end."""

    @property
    def status(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TrialFilter:
    """Trials that match one value of each kind that was given; all trials, where nothing was."""

    tasks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Whole ids."""
    asked_agents: tuple[str, ...] = ()
    """As they were given."""
    statuses: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        return not (self.tasks or self.asked_agents or self.statuses or self.variants)

    @property
    def options(self) -> str:
        """As on the command line."""
        given = {
            "--task": self.tasks,
            "--agent": self.asked_agents,
            "--status": self.statuses,
            "--variant": self.variants,
        }
        return " ".join(f"{name} {shlex.quote(value)}" for name, values in given.items() for value in values)

    def as_json(self) -> dict[str, object] | None:
        """For programs; None where all trials are shown."""
        if self.is_all:
            return None
        return {
            "task": list(self.tasks),
            "agent": list(self.agents),
            "status": list(self.statuses),
            "variant": list(self.variants),
        }

    def may_hold(self, row: Kept) -> bool:
        """Whether the trial is one of those, whatever became of it."""
        return (
            _is_one_of(row, self.tasks)
            and (not self.asked_agents or row.agent in self.agents)
            and (not self.variants or any(_is_variant(row, glob) for glob in self.variants))
        )

    def holds(self, trial: Judged) -> bool:
        """Whether the trial is one of those."""
        return self.may_hold(trial) and (not self.statuses or trial.status in self.statuses)


ALL = TrialFilter()


def trial_filter(
    known: Iterable[Kept],
    *,
    task: list[str] | None = None,
    agent: list[str] | None = None,
    status: list[str] | None = None,
    variant: list[str] | None = None,
) -> TrialFilter:
    """What the options ask for, of the trials that a run has or is to have.

    Raises UsageError, with those that may have been meant, for a value that no trial matches.
    """
    rows = list(known)
    tasks, variants = split(task, "--task"), split(variant, "--variant")
    for pattern in tasks:
        glob = pattern.removeprefix("!")
        if not any(_is_task(row, glob) for row in rows):
            raise UsageError(
                f"no task of this run is {glob!r}", hint=_hint(glob, {row.task_id for row in rows})
            )
    for glob in variants:
        if not any(_is_variant(row, glob) for row in rows) and glob not in ARMS:
            there = {row.variant for row in rows} | {arm_of(row.variant) for row in rows}
            raise UsageError(f"no trial of this run has the variant {glob!r}", hint=_hint(glob, there))
    statuses = split(status, "--status")
    for word in statuses:
        if word not in get_args(Status):
            raise UsageError(f"no trial has the status {word!r}", hint=_hint(word, get_args(Status)))
    ids = sorted({row.agent for row in rows})
    parts = tuple(agent or ())
    agents = dict.fromkeys(one for part in parts for one in _agents(part, ids))
    return TrialFilter(tasks, tuple(agents), parts, statuses, variants)


def _agents(part: str, ids: Sequence[str]) -> Collection[str]:
    if part in ids:
        return (part,)
    found = [one for one in ids if part and part in one]
    if not found:
        raise UsageError(f"no agent of this run is {part!r}", hint=_hint(part, ids))
    return found


def _hint(word: str, known: Collection[str]) -> str:
    """What there is; first what the word is a beginning or nearly the last part of."""
    from evalkit.cli.summing import choices

    last_parts = {one.rpartition("/")[2]: one for one in sorted(known)}
    near = difflib.get_close_matches(word, last_parts, n=1)
    begun = [one for one in sorted(known) if word and one.startswith(word)]
    return choices((begun or [last_parts[one] for one in near] or [word])[0], known)


def _is_one_of(row: Kept, patterns: Sequence[str]) -> bool:
    """Whether its task is one of these; with `!` before a pattern, none of that."""
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    others = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return (not wanted or any(_is_task(row, glob) for glob in wanted)) and not any(
        _is_task(row, glob) for glob in others
    )


def _is_task(row: Kept, glob: str) -> bool:
    return fnmatchcase(row.task_id, glob) or fnmatchcase(f"{row.suite}/{row.task_id}", glob)


def _is_variant(row: Kept, glob: str) -> bool:
    return glob == arm_of(row.variant) or fnmatchcase(row.variant, glob)
