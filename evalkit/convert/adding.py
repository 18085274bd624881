"""How do converted trials become trials of one run?

Every trial gets a place of its own: task, epoch and agent. One that another file holds too is left out as a copy; one
of a second run of the same task by the same agent becomes a further epoch; and one that its harness tried again in a
further log becomes a further attempt at the same epoch.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.convert.converted import Converted
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.retries import Retries
from evalkit.convert.secret_fields import without_secrets
from evalkit.trajectory.consistency import check_trajectory
from evalkit.trajectory.manifest import AgentEntry, Json, SuiteEntry
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.step_totals import totals
from evalkit.trajectory.trial import Trial

_LONGEST = 500
_MOST_EPOCHS = 1_000_000


@dataclass
class Adding:
    """The trials of a run so far, as far as further ones must fit to them."""

    run_id: str
    format: str = ""
    trials: int = 0
    copies: int = 0
    repeats: int = 0
    """Trials that became further epochs because the one they name was taken."""
    suites: dict[str, SuiteEntry] = field(default_factory=dict[str, SuiteEntry])
    agents: dict[str, AgentEntry] = field(default_factory=dict[str, AgentEntry])
    tasks: dict[str, Json] = field(default_factory=dict[str, Json])
    statuses: Counter[str] = field(default_factory=Counter[str])
    _retries: Retries = field(default_factory=Retries)
    _seen: set[bytes] = field(default_factory=set[bytes])
    _taken: dict[tuple[str, str, str, str], set[int]] = field(
        default_factory=dict[tuple[str, str, str, str], set[int]]
    )

    def trial(self, told: Converted, *, format: str, source: str, notes: Notes) -> Trial | None:  # noqa: A002
        """The next trial of the run; None for a copy of one that it has. Refused for what no trial can be."""
        suite, task, agent = (_name(text) for text in (told.suite, told.task_id, told.agent))
        if self._is_copy(told, suite, task, agent):
            self.copies += 1
            notes.warn("copies of trials that the run has already are left out")
            return None
        variant = str(told.columns.get("variant") or "clean")
        row = (suite, task, variant, agent)
        retried = (*row, told.epoch, told.retry.of) if told.retry else None
        further = self._retries.further(retried, source) if retried else None
        epoch, attempt = further or (self._epoch(told, row, notes), 1)
        columns: dict[str, Any] = {
            **_sums(told.steps),
            **{k: v for k, v in told.columns.items() if v is not None},
        }
        columns.update(
            run_id=self.run_id,
            trial_id=_trial_id(self.run_id, *row, epoch, attempt),
            suite=suite,
            task_id=task,
            variant=variant,
            epoch=epoch,
            attempt=attempt,
            agent=agent,
            source=format,
            source_uri=f"{source}#{told.where}" if told.where else source,
        )
        try:
            trial = Trial(**columns)
            check_trajectory(trial, told.steps, ())
        except (TypeError, ValueError) as error:
            raise Refused(str(error)) from error
        if told.retry and retried:
            self._retries.add(retried, epoch, source, told.retry.at, trial.trial_id)
        if attempt > 1:
            notes.warn("trials that a further log tried again: the last attempt counts")
        self._note(trial, told)
        return trial

    def attempts(self) -> Mapping[str, int]:
        """Once all files are read: which attempt a trial is, by its id, where it is not the one that it has."""
        return self._retries.numbers()

    def _is_copy(self, told: Converted, suite: str, task: str, agent: str) -> bool:
        own: object = told.identity
        if own is None:
            outcome = sorted((name, str(value)) for name, value in told.columns.items())
            own = (told.epoch, outcome, told.steps)
        key = hashlib.sha256(repr((suite, task, agent, own)).encode("utf-8", "surrogatepass")).digest()
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _epoch(self, told: Converted, row: tuple[str, str, str, str], notes: Notes) -> int:
        taken = self._taken.setdefault(row, set())
        wanted = told.epoch if told.epoch is not None and 0 < told.epoch <= _MOST_EPOCHS else None
        epoch = wanted
        if epoch is None or epoch in taken:
            epoch = len(taken) + 1
            while epoch in taken:
                epoch += 1
        if wanted is not None and epoch != wanted:
            self.repeats += 1
            notes.warn("trials of a task and an epoch that the run has already count as further epochs")
        taken.add(epoch)
        return epoch

    def _note(self, trial: Trial, told: Converted) -> None:
        self.trials += 1
        self.statuses[trial.status] += 1
        self.suites.setdefault(trial.suite, SuiteEntry(name=trial.suite, digest=trial.suite_digest))
        if trial.agent not in self.agents:
            settings = without_secrets(told.settings)
            assert isinstance(settings, Mapping)
            self.agents[trial.agent] = AgentEntry(id=trial.agent, settings=settings)
        if told.task:
            self.tasks.setdefault(f"{trial.suite}/{trial.task_id}", without_secrets(told.task))


def _sums(steps: tuple[Step, ...]) -> dict[str, Any]:
    """What the steps add up to. Nothing of that is known of a trial whose steps were not kept."""
    if not steps:
        return {}
    thinks = [step for step in steps if isinstance(step, Think)]
    acts = [step for step in steps if isinstance(step, Act)]
    return dict(totals(thinks, acts, counted=False))


def _name(text: str) -> str:
    """A name as it can be stored; an empty one is `unnamed`."""
    return (
        "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)[:_LONGEST] or "unnamed"
    )


def _trial_id(run_id: str, *row: object) -> str:
    suite, task, variant, agent, epoch, attempt = map(str, row)
    own = (run_id, suite, task, variant, agent, epoch, *([] if attempt == "1" else [attempt]))
    digest = hashlib.sha256(repr(own).encode("utf-8")).hexdigest()
    name = task if variant == "clean" else f"{task}.{variant}"
    return f"{name[:100]}.{agent.rpartition('/')[2][:60]}.{epoch}.{digest[:8]}"
