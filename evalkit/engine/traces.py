"""What do our own tools do beyond what the model sees, and to which call does it belong?

Under our own loop the loop says which call it is. Under anybody else's, Inspect runs the tool and tells only by an
event that it does: the trace is kept under that event's id, and joins its step when the event is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from inspect_ai.event import ToolEvent
from inspect_ai.log import transcript

from evalkit.engine.checkpoints import Copied
from evalkit.engine.effects.attribution import Span
from evalkit.engine.faults.strike import Strike
from evalkit.sandbox.protocol import ExecResult


@dataclass(frozen=True, slots=True)
class Ending:
    """How the agent itself ended the trial."""

    impossible: bool
    answer: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Approved:
    """What was decided about a call before it could run."""

    verdict: Literal["allow", "deny", "ask_allowed", "ask_denied"]
    rule: str | None = None
    """None: an allowance because no rule matched."""
    by: Literal["rule", "terminal", "unattended"] = "rule"
    """Who decided: the rules, somebody at the terminal, or what holds where nobody is there."""
    waited_s: float = 0.0
    """Seconds until there was an answer."""

    @property
    def text(self) -> str:
        """As a step says it: `allow`, or the decision with the rule, such as `deny:no-force-push`."""
        return self.verdict if self.rule is None else f"{self.verdict}:{self.rule}"

    @property
    def is_plain(self) -> bool:
        """Whether no rule and nobody had anything to say."""
        return self.rule is None

    @property
    def parts(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "decision": self.verdict,
            "rule": self.rule,
            "by": self.by,
            "waited_s": round(self.waited_s, 3),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Approved:
        """What `parts` were made of."""
        return cls(parts["decision"], parts["rule"], parts["by"], parts["waited_s"])


@dataclass(slots=True)
class CallTrace:
    """What a tool did beyond what the model sees; filled in by the tool while it runs."""

    result: ExecResult | None = None
    refused: bool = False
    """The arguments were of the right type and still cannot be executed."""
    ended: Ending | None = None
    strike: Strike | None = None
    """What the trial's planned fault did."""
    call_id: str | None = None
    """Where somebody else's loop makes the call."""
    approved: Approved | None = None
    """What was decided before it ran; None where nobody decides."""
    digest: str | None = None
    """Of the working directory after the call, where no loop of ours asks for it."""
    span: Span | None = None
    """What the call has touched, likewise."""
    copied: Copied | None = None
    """The state after it, where it was copied."""


@dataclass(slots=True)
class Traces:
    """The traces of one trial under somebody else's loop, by the id of Inspect's event."""

    by_event: dict[str, CallTrace] = field(default_factory=dict[str, CallTrace])

    def of(self, tool: str, arguments: dict[str, object] | None) -> CallTrace:
        """The trace of the call that is running now: the latest one of this tool with these arguments (any, if None).

        Our tools never run at the same time within one loop; in two at once, equal calls of one tool are alike.
        """
        for event in reversed(transcript().events):
            if (
                isinstance(event, ToolEvent)
                and event.pending
                and event.function == tool
                and event.uuid is not None
                and (
                    arguments is None
                    or all(arguments.get(name) == value for name, value in event.arguments.items())
                )
            ):
                return self.by_event.setdefault(event.uuid, CallTrace(call_id=event.id))
        return CallTrace()

    @property
    def ended(self) -> Ending | None:
        """How the agent ended the trial by a tool of ours; None while it has not."""
        return next((trace.ended for trace in self.by_event.values() if trace.ended is not None), None)


current_call: ContextVar[CallTrace | None] = ContextVar("evalkit_current_call", default=None)
"""The call that our own loop is executing."""
current_traces: ContextVar[Traces | None] = ContextVar("evalkit_current_traces", default=None)
"""Those of the trial that somebody else's loop works on."""


def call_trace(tool: str, **arguments: object) -> CallTrace:
    """Where a tool that is running notes what it does."""
    call, traces = current_call.get(), current_traces.get()
    if call is not None:
        return call
    return CallTrace() if traces is None else traces.of(tool, arguments)


def own_call_trace(tool: str) -> CallTrace:
    """The same for a tool that is not evalkit's, and gets what Inspect has made of the arguments."""
    call, traces = current_call.get(), current_traces.get()
    if call is not None:
        return call
    return CallTrace() if traces is None else traces.of(tool, None)


def is_foreign() -> bool:
    """Whether the tool that is running was not called by our own loop."""
    return current_call.get() is None
