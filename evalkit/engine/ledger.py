"""What is found out about a trial while it runs, and how does that become its row?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

from evalkit.engine.boundary import Failure
from evalkit.engine.checkpoints import Checkpoints
from evalkit.engine.effects.measuring import EffectsMeter
from evalkit.engine.evidence.gathering import Evidence
from evalkit.engine.faults.injector import Injector
from evalkit.engine.loop import Outcome
from evalkit.engine.plan import Planned
from evalkit.engine.planned_columns import planned_columns
from evalkit.engine.recorder import Recorder, Stopwatch, now
from evalkit.engine.spending import Spending
from evalkit.grading.delivered import Delivered
from evalkit.grading.verdict import Verdict
from evalkit.measures.honoured import honoured
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step_totals import Totals, totals
from evalkit.trajectory.trial import Status, StopReason, Trial

Number = TypeVar("Number", int, float)
Phase = Literal["start_s", "setup_s", "agent_s", "grade_s"]


@dataclass(slots=True)
class Ledger:
    """Facts of one trial, filled in phase by phase. What a phase did not reach stays None."""

    started_at: datetime = field(default_factory=now)
    queue_s: float | None = None
    build_s: float | None = None
    start_s: float | None = None
    setup_s: float | None = None
    agent_s: float | None = None
    grade_s: float | None = None
    runtime: str | None = None
    image_digest: str | None = None
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    grader_digest: str | None = None
    naive_passed: bool | None = None
    delivered: list[Delivered] = field(default_factory=list[Delivered])
    """What left the sandbox, stage by stage."""
    deliverables: str | None = None
    """sha256 of the artifact that lists it."""
    spending: Spending = field(default_factory=Spending)
    injector: Injector | None = None
    """What the trial's planned fault works through."""
    meter: EffectsMeter | None = None
    """What measures the trial's lasting changes; None where nothing does."""
    checkpoints: Checkpoints | None = None
    """What copies states of the agent's work; None where nothing does."""
    evidence: Evidence | None = None
    """What gathers evidence of tampering; None where nothing does."""
    failure: Failure | None = None
    cancelled: bool = False

    @contextmanager
    def clock(self, phase: Phase) -> Generator[None]:
        """Adds what goes by inside to a phase's time, also when it ends in an error."""
        watch = Stopwatch()
        try:
            yield
        finally:
            before: float | None = getattr(self, phase)
            setattr(self, phase, (before or 0.0) + watch.seconds)

    def put_aside(self) -> None:
        """Take out of the agent's time what following its changes took, which belongs to the set-up, and what copying
        its states took, which belongs to grading.
        """
        followed = copied = 0.0
        if self.meter is not None:
            self.meter.attribution.clock = None
            followed = self.meter.attribution.taken_s()
            self.setup_s = (self.setup_s or 0.0) + followed
        if self.checkpoints is not None:
            self.checkpoints.clock = None
            copied = self.checkpoints.taken_s()
            self.grade_s = (self.grade_s or 0.0) + copied
        self.agent_s = max(0.0, (self.agent_s or 0.0) - followed - copied)

    def conclude(self, effects: Sequence[Effect], *, twin: bool) -> None:
        """Record what was found of tampering. `twin` says that the trial is one that nobody can pass honestly."""
        if self.evidence is None:
            return
        ending = self.outcome.ending if self.outcome else None
        self.evidence.conclude(
            answer=ending.answer if ending else None,
            effects=effects,
            start=self.meter.at_start if self.meter else None,
            twin=twin and self._status() == "passed",
        )

    def trial(
        self, planned: Planned, *, run_id: str, sandbox: str | None, host: str, recorder: Recorder
    ) -> Trial:
        """The finished row."""
        agent = planned.agent
        ending = self.outcome.ending if self.outcome else None
        return Trial(
            **planned_columns(planned, run_id),
            thinking_sent=self._thinking_sent(planned, recorder),
            thinking_honoured=honoured(agent.thinking.asked, recorder.thinks, taken=agent.thinking.taken),
            sandbox=sandbox,
            sandbox_runtime=self.runtime,
            image_digest=self.image_digest,
            host=host,
            started_at=self.started_at,
            finished_at=now(),
            queue_s=self.queue_s,
            build_s=self.build_s,
            start_s=self.start_s,
            setup_s=self.setup_s,
            agent_s=self.agent_s,
            grade_s=self.grade_s,
            retry_s=self.spending.retry_s,
            status=self._status(),
            reward=self.verdict.reward if self.verdict else None,
            rewards=self.verdict.rewards if self.verdict else None,
            checks=self.verdict.checks if self.verdict else None,
            answer=ending.answer if ending else None,
            confidence=ending.confidence if ending else None,
            stop_reason="cancelled" if self.cancelled else _stop_reason(self),
            error_origin=self.failure.origin if self.failure else None,
            error_type=self.failure.kind if self.failure else None,
            error_message=self.failure.message if self.failure else None,
            grader_digest=self.grader_digest,
            faults_planned=int(self.injector is not None),
            faults_fired=int(self.injector is not None and self.injector.fired),
            price_source=self.spending.price_source,
            raw_usage=self.spending.raw_usage,
            naive_passed=self.naive_passed,
            deliverables=self.deliverables,
            effects_measured=self.meter.measured if self.meter else None,
            **self._totals(recorder, counted=agent.model.route == "scripted"),
        )

    def _thinking_sent(self, planned: Planned, recorder: Recorder) -> str | None:
        """As found in the requests; a scripted agent is told directly."""
        if planned.agent.model.route != "scripted":
            return self.spending.thinking_sent
        return planned.agent.thinking.level if recorder.thinks else None

    def _totals(self, recorder: Recorder, *, counted: bool) -> Totals:
        sums = totals(recorder.thinks, recorder.acts, counted=counted)
        sums["cost_usd"] = self.spending.whole_cost(sums["cost_usd"])
        return sums

    def _status(self) -> Status:
        if self.failure is not None or self.verdict is None:
            return "unscored"
        return "passed" if self.verdict.passed else "failed"


def _stop_reason(ledger: Ledger) -> StopReason | None:
    if ledger.outcome is not None:
        return ledger.outcome.stop_reason
    return "error" if ledger.failure else None
