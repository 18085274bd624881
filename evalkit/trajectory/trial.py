"""What is known about one attempt of one agent at one task?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from evalkit.errors import Origin
from evalkit.trajectory.bounds import (
    check_amounts,
    check_aware,
    check_counts,
    check_finite,
    check_integers,
    check_words,
)

Status = Literal["passed", "failed", "unscored"]
StopReason = Literal[
    "submitted",
    "step_limit",
    "token_limit",
    "cost_limit",
    "time_limit",
    "context_limit",
    "refused",
    "gave_up",
    "error",
    "cancelled",
]
ReasoningVisibility = Literal["full", "summary", "encrypted", "count_only", "none", "unknown"]
Depth = Literal["own", "events"]
ReasoningSource = Literal["api", "counted", "derived", "unknown"]

_WORDS = {
    "status": frozenset(get_args(Status)),
    "stop_reason": frozenset(get_args(StopReason)),
    "error_origin": frozenset(get_args(Origin)),
    "depth": frozenset(get_args(Depth)),
    "reasoning_visibility": frozenset(get_args(ReasoningVisibility)),
    "reasoning_source": frozenset(get_args(ReasoningSource)),
}
_COUNTS = (
    "epoch",
    "attempt",
    "model_calls",
    "tool_calls",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "faults_planned",
    "faults_fired",
    "replaced_chars",
)
_AMOUNTS = (
    "queue_s",
    "build_s",
    "start_s",
    "setup_s",
    "agent_s",
    "grade_s",
    "model_s",
    "tool_s",
    "retry_s",
    "cost_usd",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One row of `trials`. None means unknown, never 0.

    Raises ValueError for what no trial can have: a reward that is not finite, an unknown status, a time
    without a zone, a negative count.
    """

    run_id: str
    trial_id: str
    suite: str
    suite_digest: str | None = None
    task_id: str
    task_digest: str | None = None
    variant: str = "clean"
    """`clean`, a fault's id, or `twin`."""
    epoch: int
    attempt: int = 1
    """Further attempts at the same planned row (suite, task, variant, epoch, agent) replace earlier ones."""
    agent: str
    agent_digest: str | None = None
    skills: tuple[str, ...] = ()
    difficulty: str | None = None

    agent_loop: str | None = None
    depth: Depth | None = None
    """How deep its steps go: `own`, recorded by our own loop, or `events`, what Inspect's events tell."""
    model: str | None = None
    model_served: str | None = None
    """As named in the raw responses, which can differ from `model`."""
    thinking: str | None = None
    """The thinking budget as asked for."""
    thinking_taken: str | None = None
    """The nearest one that was taken where the model does not have it; None: the one asked for."""
    thinking_sent: str | None = None
    """The thinking budget as found in the outgoing request."""
    thinking_honoured: bool | None = None
    """Whether the realised tokens kept to the budget that was taken, or to `off` where that was asked for; None where
    they cannot be measured."""
    tool_settings: str | None = None
    approvals: str | None = None
    temperature: float | None = None
    seed: int | None = None

    sandbox: str | None = None
    sandbox_runtime: str | None = None
    image_digest: str | None = None
    host: str | None = None

    started_at: datetime | None = None
    finished_at: datetime | None = None
    queue_s: float | None = None
    build_s: float | None = None
    start_s: float | None = None
    setup_s: float | None = None
    agent_s: float | None = None
    grade_s: float | None = None
    model_s: float | None = None
    """Part of `agent_s`."""
    tool_s: float | None = None
    """Part of `agent_s`."""
    retry_s: float | None = None
    """Part of `agent_s`."""

    status: Status
    """What the grader said; whether it was earned is a score."""
    reward: float | None = None
    rewards: Mapping[str, float] | None = None
    checks: Mapping[str, bool] | None = None
    answer: str | None = None
    confidence: float | None = None
    stop_reason: StopReason | None = None
    error_origin: Origin | None = None
    error_type: str | None = None
    error_message: str | None = None
    grader_mode: str | None = None
    grader_digest: str | None = None

    model_calls: int | None = None
    tool_calls: int | None = None
    input_tokens: int | None = None
    """Not served from a cache."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    """Includes the reasoning tokens."""
    reasoning_tokens: int | None = None
    reasoning_visibility: ReasoningVisibility | None = None
    reasoning_source: ReasoningSource | None = None
    cost_usd: float | None = None
    price_source: str | None = None

    faults_planned: int | None = None
    faults_fired: int | None = None
    effects_measured: bool | None = None
    """False where that failed, None where nobody tried or the format does not tell."""
    naive_passed: bool | None = None
    """What a naive grader, run in place on the same final state, said; None where the task names none."""
    deliverables: str | None = None
    """sha256 of the artifact that lists what was delivered; None where nothing left the sandbox as data."""

    source: str = "run"
    """Which format this came from: `run`, `inspect`, `atif`, ..."""
    source_uri: str | None = None
    raw_usage: str | None = None
    """JSON, exactly as reported."""
    replaced_chars: int = 0
    """How many characters of this row could not be stored and became U+FFFD."""

    def __post_init__(self) -> None:
        for name in ("run_id", "trial_id", "suite", "task_id", "variant", "agent"):
            if not getattr(self, name):
                raise ValueError(f"{name} must not be empty")
        check_words(self, _WORDS)
        check_counts(self, _COUNTS)
        if self.attempt < 1:
            raise ValueError("attempt counts from 1")
        check_integers(self, ("seed",))
        check_amounts(self, _AMOUNTS)
        check_aware(self, ("started_at", "finished_at"))
        for name in ("reward", "confidence", "temperature"):
            check_finite(name, getattr(self, name))
        for key, value in (self.rewards or {}).items():
            check_finite(f"rewards[{key!r}]", value)
