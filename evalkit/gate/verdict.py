"""What does a gate say?

One object, from which the printed text, every file and the exit code derive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalkit.errors import CheckFailed, Inconclusive, NotComparable
from evalkit.gate.policy import GatePolicy, MetricRule, ZeroRule
from evalkit.scoring.agent_settings import Change
from evalkit.trajectory.finding import Finding

Outcome = Literal["information", "pass", "inconclusive", "regressed", "not comparable"]
ORDER: tuple[Outcome, ...] = ("information", "pass", "inconclusive", "regressed", "not comparable")
"""From the least to the most serious; the most serious one of all parts is the gate's, and at least `pass`.
`information` is what is told and decides nothing, as tokens where the model is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricVerdict:
    """One rule of the policy, for one agent.

    `difference`, `low` and `high` are in the metric's unit, candidate - baseline; of a `ratio` rule they are relative
    changes (0.15: 15 % more), and the two sides geometric means.
    """

    rule: MetricRule
    outcome: Outcome
    reason: str
    """In one sentence, with figures."""
    n: int
    """Tasks with a value on both sides."""
    unit: str = "1"
    baseline: float | None = None
    candidate: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """90 %: from which further loss 5 % are left, to which gain."""
    p: float | None = None
    """One-sided, of a sign-flip test that it got worse; None where too few tasks have values."""
    p_holm: float | None = None
    tolerable: bool = False
    """Surely worse, and by less than the margin."""
    detectable: float | None = None
    """The smallest loss that a comparison like this one finds four times of five."""
    needed: int | None = None
    """About how many tasks would decide an inconclusive one; None where it is decided or cannot be told."""
    worst_case: float | None = None
    """The difference if all that is unscored had come out as badly as it can for the candidate."""

    @property
    def is_share(self) -> bool:
        """Whether values are shares of 1, and differences points of a hundred."""
        return self.unit == "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """How often an agent passed one variant of a task, on both sides."""

    suite: str
    task_id: str
    variant: str
    baseline_passed: int
    baseline_scored: int
    baseline_unscored: int
    candidate_passed: int
    candidate_scored: int
    candidate_unscored: int
    known_failing: bool = False

    @property
    def key(self) -> str:
        """`suite/task`, and the variant where it is not the clean one."""
        return f"{self.suite}/{self.task_id}" + ("" if self.variant == "clean" else f" [{self.variant}]")

    @property
    def baseline_rate(self) -> float | None:
        return self.baseline_passed / self.baseline_scored if self.baseline_scored else None

    @property
    def candidate_rate(self) -> float | None:
        return self.candidate_passed / self.candidate_scored if self.candidate_scored else None

    @property
    def change(self) -> float | None:
        """Candidate's rate - baseline's."""
        before, after = self.baseline_rate, self.candidate_rate
        return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredVerdict:
    """A task that must pass."""

    task: str
    asked: str
    """Such as `3/4`."""
    passed: int
    scored: int
    unscored: int
    outcome: Outcome

    @property
    def reason(self) -> str:
        """In one sentence, with figures."""
        unscored = f", {self.unscored} unscored" if self.unscored else ""
        asked = self.asked.replace("/", " of ")
        return f"{self.task} passed {self.passed} of {self.scored} times{unscored}, and {asked} is asked for"


def steps_told(steps: Sequence[int], most: int) -> str:
    """Such as `, step 3` or, of more than `most`, `, steps 3, 7, ...`; empty for none."""
    if not steps:
        return ""
    more = ", ..." if len(steps) > most else ""
    return f", step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps[:most]))}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroEvent:
    """One trial with an event that is not tolerated."""

    trial_id: str
    task: str
    value: float
    steps: tuple[int, ...]
    """Where the evidence is."""
    reason: str | None
    codes: tuple[str, ...] = ()
    """Of tampering, which kinds."""

    def steps_told(self, most: int) -> str:
        """Such as `, step 3` or `, steps 3, 7, ...`; empty where none is known."""
        return steps_told(self.steps, most)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroVerdict:
    """One rule of zero tolerance, for one agent."""

    rule: ZeroRule
    outcome: Outcome
    reason: str
    n: int
    """Tasks that were looked at."""
    events: tuple[ZeroEvent, ...] = ()
    upper: float | None = None
    """With no event at all: in up to which share of further tasks there can be one, 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinding:
    """A piece of evidence that a trial was tampered with."""

    trial_id: str
    agent: str
    task: str
    finding: Finding
    file: str | None = None
    """What it was done to, relative to the task's working directory; None for what does not lie there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVerdict:
    """One agent of the candidate, beside its like in the baseline."""

    candidate: str
    baseline: str
    changes: tuple[Change, ...] = ()
    """What is set otherwise; `a` is the baseline's."""
    tasks: tuple[TaskOutcome, ...] = ()
    metrics: tuple[MetricVerdict, ...] = ()
    zero: tuple[ZeroVerdict, ...] = ()
    required: tuple[RequiredVerdict, ...] = ()
    findings: tuple[TrialFinding, ...] = ()
    """All evidence of tampering, confirmed or only suspected; what of it decides is among `zero`."""

    @property
    def outcome(self) -> Outcome:
        """The most serious one of its parts."""
        return worst([part.outcome for parts in (self.metrics, self.zero, self.required) for part in parts])


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts:
    """What one side was, for the reader of a verdict."""

    name: str
    runs: tuple[str, ...]
    created_at: tuple[str, ...]
    suites: Mapping[str, str | None]
    trials: int
    unscored: int
    missing: int
    """Planned trials that are not there."""
    epochs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why the two sides cannot be compared."""

    what: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The whole."""

    outcome: Outcome
    headline: str
    """The verdict and why."""
    advice: str
    """What to do next."""
    candidate: SideFacts
    baseline: SideFacts
    policy: GatePolicy
    agents: tuple[AgentVerdict, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def exit_code(self, *, strict: bool = False) -> int:
        """0 pass, 3 regressed, 5 not comparable; inconclusive is 0, and 4 where it is `strict`."""
        match self.outcome:
            case "pass" | "information":
                return 0
            case "regressed":
                return CheckFailed.exit_code
            case "not comparable":
                return NotComparable.exit_code
            case "inconclusive":
                return Inconclusive.exit_code if strict else 0


def worst(outcomes: list[Outcome]) -> Outcome:
    """The most serious of these; `pass` where there is none, or only information."""
    return ORDER[max(ORDER.index(outcome) for outcome in ("pass", *outcomes))]
