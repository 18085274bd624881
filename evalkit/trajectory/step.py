"""What happened in one step of a trajectory?

    prompt   what the agent was told
    think    one model generation
    act      one tool call with its result
    event    anything else: a limit, a fault, an approval, an error, a checkpoint

Steps are numbered 0, 1, 2, ... in the order in which they happened. None means unknown, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, TypeAlias, get_args

from evalkit.trajectory.bounds import check_amounts, check_aware, check_counts, check_integers, check_words
from evalkit.trajectory.trial import ReasoningVisibility

Kind = Literal["prompt", "think", "act", "event"]
Role = Literal["system", "user"]
ErrorKind = Literal[
    "timeout",
    "unavailable",
    "rate_limited",
    "permission",
    "not_found",
    "parsing",
    "limit",
    "denied",
    "sandbox",
    "unknown",
]
EventName = Literal[
    "limit",
    "fault",
    "approval",
    "error",
    "compaction",
    "checkpoint",
    "intervention",
    "submit",
    "retry",
    "background_output",
    "shell_lost",
    "tampering",
    "planted",
]

_COMMON_COUNTS = ("step", "parent_step", "replaced_chars")
_PROMPT_WORDS = {"role": frozenset(get_args(Role))}
_THINK_WORDS = {"reasoning_visibility": frozenset(get_args(ReasoningVisibility))}
_THINK_COUNTS = (
    *_COMMON_COUNTS,
    "reasoning_tokens",
    "output_tokens",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "retries",
)
_ACT_WORDS = {"error_kind": frozenset(get_args(ErrorKind))}
_ACT_COUNTS = (*_COMMON_COUNTS, "think_step", "call_index", "stdout_bytes", "stderr_bytes")
_EVENT_WORDS = {"event": frozenset(get_args(EventName))}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """The columns that every kind of step has."""

    kind: ClassVar[Kind]

    step: int
    parent_step: int | None = None
    started_at: datetime | None = None
    duration_s: float | None = None
    """Seconds."""
    replaced_chars: int = 0
    """How many characters of this row could not be stored and became U+FFFD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(_Common):
    """What the agent was told before or between its generations."""

    kind: ClassVar[Kind] = "prompt"

    role: Role
    text: str

    def __post_init__(self) -> None:
        check_words(self, _PROMPT_WORDS)
        check_counts(self, _COMMON_COUNTS)
        check_amounts(self, ("duration_s",))
        check_aware(self, ("started_at",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Think(_Common):
    """One model generation."""

    kind: ClassVar[Kind] = "think"

    reasoning: str | None = None
    """The thinking, where the model shows it."""
    reasoning_tokens: int | None = None
    reasoning_visibility: ReasoningVisibility | None = None
    text: str | None = None
    """What the model said openly."""
    output_tokens: int | None = None
    """Includes the reasoning tokens."""
    input_tokens: int | None = None
    """Not served from a cache."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    model_served: str | None = None
    request_digest: str | None = None
    retries: int | None = None
    blocks: str | None = None
    """JSON: order and signatures of interleaved reasoning blocks."""

    def __post_init__(self) -> None:
        check_words(self, _THINK_WORDS)
        check_counts(self, _THINK_COUNTS)
        check_amounts(self, ("duration_s", "cost_usd"))
        check_aware(self, ("started_at",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Act(_Common):
    """One tool call with its result. Calls are keyed by position (`think_step`, `call_index`), not by id.

    A call without a result has no `observation`; a result without a call has no `think_step`.
    """

    kind: ClassVar[Kind] = "act"

    think_step: int | None = None
    """Number of the generation that asked for this call."""
    call_index: int | None = None
    """Position among the calls of that generation, from 0."""
    tool: str | None = None
    arguments: str | None = None
    """Canonical JSON (see `canonical_json`); None where they did not parse."""
    arguments_raw: str | None = None
    """What the model wrote, where it did not parse."""
    observation: str | None = None
    """As the model saw it."""
    stdout: str | None = None
    stderr: str | None = None
    stdout_bytes: int | None = None
    stderr_bytes: int | None = None
    stdout_truncated: bool | None = None
    stderr_truncated: bool | None = None
    exit_code: int | None = None
    error_kind: ErrorKind | None = None
    fault_id: str | None = None
    approval: str | None = None
    """`allow`, `deny`, `ask_allowed` or `ask_denied`, with the rule: `deny:RULE`; null without approvals."""
    workspace_digest: str | None = None
    """After the call. The agent can forge what it rests on (times): for efficiency and attribution, never evidence."""

    def __post_init__(self) -> None:
        check_words(self, _ACT_WORDS)
        check_counts(self, _ACT_COUNTS)
        check_integers(self, ("exit_code",))
        check_amounts(self, ("duration_s",))
        check_aware(self, ("started_at",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(_Common):
    """Something that was neither told, thought nor done by the agent."""

    kind: ClassVar[Kind] = "event"

    event: EventName
    detail: str | None = None
    """JSON."""

    def __post_init__(self) -> None:
        check_words(self, _EVENT_WORDS)
        check_counts(self, _COMMON_COUNTS)
        check_amounts(self, ("duration_s",))
        check_aware(self, ("started_at",))


Step: TypeAlias = Prompt | Think | Act | Event
