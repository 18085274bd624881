"""How are trials graded again, by the graders that their suite has now, on what they delivered?

Neither models nor the agents' sandboxes take part. What comes of it is a further attempt at the same planned row, with
the steps and effects of the one before and the new verdict; what the grader itself told of tampering, it tells anew. It
is committed whole or not at all. A trial whose grader gives no verdict now keeps the one that it has.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import anyio

from evalkit._content import ROOT
from evalkit.engine.boundary import innermost
from evalkit.engine.capacity import Capacity, make_capacity, refuse_oversized
from evalkit.engine.checkpoint_grading import grade_stored, states_of, with_words, without_verdicts
from evalkit.engine.needs import check_needs
from evalkit.engine.plan import trial_id_of
from evalkit.engine.recorder import Stopwatch
from evalkit.engine.regradable import Regradable, Suites, regradable
from evalkit.engine.regraded_steps import with_evidence
from evalkit.errors import EvalkitError, NotComparable, TrialError, UsageError
from evalkit.grading.grader import Grading, grade_delivered, tests_digest
from evalkit.grading.total import falls_short, total
from evalkit.grading.unsupported import refuse_without_docker
from evalkit.grading.verdict import Verdict
from evalkit.sandbox import open_sandbox
from evalkit.sandbox.protocol import Environment, Sandbox
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


@dataclass(frozen=True, slots=True)
class Regraded:
    """What came of one trial."""

    before: Trial
    after: Trial | None = None
    """The new attempt; None where there is none."""
    reason: str | None = None
    """Why it could not be graded again."""
    tests_differ: bool = False
    """Whether the graders' files are others than when the run began."""
    states: int = 0
    """How many states of its work got a verdict."""

    @property
    def changed(self) -> bool:
        """Whether it was judged otherwise than before."""
        return self.after is not None and _said(self.before) != _said(self.after)


@dataclass(slots=True)
class Regrading:
    """What came of grading a run's trials again, in the order of their ids."""

    path: Path
    trials: list[Regraded] = field(default_factory=list[Regraded])
    settled: int = 0
    """Trials of which each stored state has a verdict of the present graders already, where states were asked for."""
    left: int = 0
    """Trials that were not come to, because of an interrupt."""
    interrupted: bool = False


def regrade(
    path: Path,
    trials: Sequence[str] = (),
    *,
    sandbox: str | None = None,
    checkpoints: bool = False,
    heard: Callable[[int, int], None],
) -> Regrading:
    """Grade these trials of a run again, all where none is named; `heard` is told how many of how many are done.

    With `checkpoints` those with states, copied while they ran, that have no verdict of the graders as they are now,
    and these states too: once more asked, it does nothing more, and an attempt that would say the same is not written.
    Without, verdicts on states are kept unless the graders are others now.

    In the kind of sandbox that the run used, or in `sandbox`. A run whose owner is dead is recovered first. Raises
    UsageError while another process writes the run, for a trial that is not there, and where no sandbox can be
    started; NotComparable where the run has no suite of evalkit's own.
    """
    writer = RunWriter.open(path)
    result = Regrading(writer.path)
    work: _Work | None = None
    try:
        work = _Work(writer, load(writer.path), sandbox, result, heard, checkpoints=checkpoints)
        work.choose(trials)
        work.check()
        anyio.run(work.all)
    except KeyboardInterrupt:
        result.interrupted = True
    except BaseException as error:
        writer.close()
        if isinstance(error, Exception) and isinstance(inner := innermost(error), EvalkitError):
            raise inner from None
        raise
    writer.finish()
    result.left = len(work.waiting) if work is not None and result.interrupted else 0
    result.trials.sort(key=lambda one: one.before.trial_id)
    return result


class _Work:
    """One go through a run's trials."""

    def __init__(
        self,
        writer: RunWriter,
        run: Run,
        sandbox: str | None,
        result: Regrading,
        heard: Callable[[int, int], None],
        *,
        checkpoints: bool,
    ) -> None:
        settings = run.manifest.settings
        self._writer, self._run, self._result, self._heard = writer, run, result, heard
        self._kind = sandbox or str(settings.get("sandbox", "local"))
        runtime = cast("str | None", settings.get("sandbox_runtime"))
        self._runtime = runtime if self._kind == "docker" else None
        self._readonly = tuple(Path(one) for one in cast("list[str]", settings.get("readonly", [])))
        self._suites = Suites(run.manifest)
        self._most = cast("int | None", settings.get("max_trials"))
        self._checkpoints = checkpoints
        self.waiting: dict[str, Regradable] = {}
        self._total = 0

    def choose(self, trials: Sequence[str]) -> None:
        """Find out which can be graded again, and note why others cannot.

        Raises UsageError where the run has no trials, and where checkpoints are to be graded and there are none.
        """
        named = dict.fromkeys(self._run.trial(one)[0].trial_id for one in trials)
        for row, steps in self._run.iter_trials():
            if trials and row.trial_id not in named:
                continue
            if self._checkpoints and not states_of(steps):
                if trials:
                    self._result.trials.append(Regraded(row, reason="no states of its work are stored"))
                continue
            try:
                if self._checkpoints and self._is_settled(row, steps):
                    self._result.settled += 1
                    continue
                found = regradable(row, steps, self._suites, self._writer.artifacts)
                if self._kind == "local":
                    refuse_without_docker(found.task)
            except (NotComparable, UsageError) as error:
                self._result.trials.append(Regraded(row, reason=error.message))
            else:
                self.waiting[row.trial_id] = found
        self._total = len(self.waiting)
        if not self._run.trials.count_rows():
            raise UsageError(
                "the run has no trials that could be graded again",
                where=str(self._writer.path),
                hint=f"It was cut short: evalkit resume {shlex.quote(str(self._writer.path))}",
            )
        if self._checkpoints and not (self.waiting or self._result.trials or self._result.settled):
            raise UsageError(
                "no states of agents' work are stored in this run",
                where=str(self._writer.path),
                hint="Runs store them with: evalkit run SUITE --checkpoints",
            )

    def _is_settled(self, row: Trial, steps: Sequence[Step]) -> bool:
        """Whether each of its states has a verdict of the graders as they are now."""
        if row.status == "unscored" or any(state.passed is None for state in states_of(steps)):
            return False
        _, task = self._suites.task_of(row)
        return tests_digest(task) == row.grader_digest

    def check(self) -> None:
        """See that the sandbox has what the graders need."""
        tasks = tuple({one.task.path: one.task for one in self.waiting.values()}.values())
        if tasks:
            refuse_oversized(tasks, self._kind)
            run_id = self._run.manifest.run_id
            check_needs(tasks, self._kind, self._readonly, run_id=run_id, runtime=self._runtime)

    async def all(self) -> None:
        """Grade each, as many at once as there is room for."""
        capacity = make_capacity(self._most, self._kind)
        async with anyio.create_task_group() as group:
            for one in tuple(self.waiting.values()):
                group.start_soon(self._one, one, capacity)

    async def _one(self, one: Regradable, capacity: Capacity) -> None:
        async with capacity.slot(one.task.harbor.environment.memory_mb):
            watch = Stopwatch()
            _, recorded = self._run.trial(one.trial.trial_id)
            try:
                verdict = await self._verdict(one)
                steps, states = await self._states(one, with_evidence(recorded, verdict.evidence))
            except (TrialError, NotComparable) as error:
                self._note(one, Regraded(one.trial, reason=str(error), tests_differ=one.tests_differ))
                return
        trial = _attempt(one, self._run.manifest.run_id, verdict, watch.seconds)
        if self._checkpoints and tuple(steps) == tuple(recorded) and _said(trial) == _said(one.trial):
            told = next((state.error for state in states_of(steps) if state.passed is None), None)
            self._note(one, Regraded(one.trial, reason=f"a state of its work has no verdict again: {told}"))
            return
        effects = self._run.effects_of(one.trial.trial_id)
        self._writer.commit(trial, steps, [replace(effect, trial_id=trial.trial_id) for effect in effects])
        self._note(one, Regraded(one.trial, trial, tests_differ=one.tests_differ, states=states))

    async def _states(self, one: Regradable, steps: Sequence[Step]) -> tuple[Sequence[Step], int]:
        """The steps with what graders say now of states of the work, and how many got a verdict."""
        if tests_digest(one.task) != one.trial.grader_digest:
            steps = without_verdicts(steps)
        if not self._checkpoints:
            return steps, 0
        grading = Grading(store=self._writer.artifacts, open_sandbox=self._opener(one))
        words = await grade_stored(one.task, steps, grading)
        new = [
            state for state in states_of(steps) if isinstance(words.get(state.deliverables or ""), Verdict)
        ]
        return with_words(steps, words), len(new)

    def _note(self, one: Regradable, regraded: Regraded) -> None:
        del self.waiting[one.trial.trial_id]
        self._result.trials.append(regraded)
        self._heard(self._total - len(self.waiting), self._total)

    async def _verdict(self, one: Regradable) -> Verdict:
        task, verdicts, fell_short = one.task, list[Verdict](), False
        evidence = list[Finding]()
        grading = Grading(store=self._writer.artifacts, open_sandbox=self._opener(one))
        for stage, kept in one.stages:
            verdict = await grade_delivered(task, stage, kept.deliverables, grading, answer=kept.answer)
            verdicts.append(verdict)
            evidence += verdict.evidence
            goes_on = len(verdicts) < len(task.stages)
            last = len(verdicts) == len(one.stages)
            fell_short = goes_on and falls_short(stage, verdict) and one.ended_by in {None, "min_reward"}
            if fell_short:
                break
            if last and goes_on and (one.ended_by == "min_reward" or one.trial.status == "unscored"):
                raise NotComparable(
                    f"by the verdict on stage {stage.name} it would have gone on, and its agent did not"
                )
        return replace(total(task, verdicts, fell_short=fell_short), evidence=tuple(evidence))

    def _opener(self, one: Regradable) -> Callable[[Environment], Sandbox]:
        run_id = self._run.manifest.run_id
        hidden = (ROOT / "suites", *self._suites.folders)

        def open_grader(environment: Environment) -> Sandbox:
            extended = replace(environment, readonly=self._readonly, hidden=hidden)
            trial_id = f"{_next_id(one.trial, run_id)}.grader"
            return open_sandbox(self._kind, extended, run_id=run_id, trial_id=trial_id, runtime=self._runtime)

        return open_grader


def _attempt(one: Regradable, run_id: str, verdict: Verdict, seconds: float) -> Trial:
    """The row of the attempt: all that is known of the trial, and the new word on it."""
    return replace(
        one.trial,
        trial_id=_next_id(one.trial, run_id),
        attempt=one.trial.attempt + 1,
        status="passed" if verdict.passed else "failed",
        reward=verdict.reward,
        rewards=verdict.rewards,
        checks=verdict.checks,
        error_origin=None,
        error_type=None,
        error_message=None,
        grade_s=seconds,
        grader_digest=tests_digest(one.task),
        task_digest=one.task.digest,
    )


def _next_id(trial: Trial, run_id: str) -> str:
    return trial_id_of(
        run_id,
        suite=trial.suite,
        task_id=trial.task_id,
        variant=trial.variant,
        agent=trial.agent,
        epoch=trial.epoch,
        attempt=trial.attempt + 1,
    )


def _said(trial: Trial) -> tuple[object, ...]:
    return (trial.status, trial.reward, trial.rewards, trial.checks)
