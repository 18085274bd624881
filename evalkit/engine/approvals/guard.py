"""How are a trial's approvals enforced, whoever's loop makes the calls?

Through Inspect: every call of every loop passes its approver before it is executed. What was decided is put where the
call's step is made: into the trace of our own loop, and into Inspect's event for others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from inspect_ai.approval import Approval, ApprovalPolicy, Approver, approval, approver
from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolCall, ToolCallView
from inspect_ai.tool._tool import ToolApprovalError

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.approvals.asking import Asker, Question
from evalkit.engine.approvals.deciding import Decision, decide
from evalkit.engine.approvals.denial import denial
from evalkit.engine.approvals.policy import Approvals
from evalkit.engine.faults.called import Called
from evalkit.engine.plan import Planned
from evalkit.engine.recorder import Stopwatch
from evalkit.engine.traces import Approved, CallTrace, current_call

_KEY = "evalkit_approval"
"""Under which Inspect's events hold what was decided."""


@dataclass(slots=True)
class Guard:
    """One trial's approvals."""

    approvals: Approvals
    planned: Planned
    asker: Asker | None
    """None: nobody is there to be asked."""
    base: str
    """The working directory, where relative paths start."""
    clock: AgentClock
    """The agent's, which stands still while somebody is asked."""
    goes_on: bool = False
    """Whether further approvers, of an Inspect task's own, decide after this one."""
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _judged: Counter[str] = field(default_factory=Counter[str])
    """Calls that may run and have not begun, by id and what they ask for: ids alone are not unique in the wild."""

    async def judge(self, call: ToolCall) -> Approval:
        """Decide about a call, asking where a rule says so."""
        decision = await decide(self.approvals, call.function, call.arguments, self.base)
        approved = await self._approved(decision, call)
        if (trace := current_call.get()) is not None:
            trace.approved = approved
        metadata = {_KEY: approved.parts}
        if approved.verdict in {"deny", "ask_denied"}:
            said = denial(decision, self.planned.agent.tool_settings)
            return Approval(decision="reject", explanation=said, metadata=metadata)
        self._judged[_key(call)] += 1
        return Approval(decision="escalate" if self.goes_on else "approve", metadata=metadata)

    async def judge_unasked(self, call: ToolCall, trace: CallTrace) -> None:
        """Decide about a call that is about to run if nobody has: its loop has put other approvers in our place, or
        calls the tool itself.

        Raises ToolApprovalError where it may not run.
        """
        key = _key(call)
        if self._judged[key] == 0:
            judged = await self.judge(call)
            trace.approved = approved_in(judged.metadata)
            if judged.decision == "reject":
                raise ToolApprovalError(judged.explanation)
        self._judged[key] -= 1

    async def _approved(self, decision: Decision, call: ToolCall) -> Approved:
        if decision.verdict == "ask":
            return await self._ask(decision, call)
        is_plain = decision.verdict == "allow" and decision.rule is None
        return Approved(decision.verdict, None if is_plain else decision.rule_name)

    async def _ask(self, decision: Decision, call: ToolCall) -> Approved:
        watch, answer = Stopwatch(), None
        if self.asker is not None:
            question = Question(
                agent=self.planned.agent.id,
                task=f"{self.planned.suite.name}/{self.planned.task.id}",
                tool=call.function,
                call=Called(call.function, call.arguments).text,
                rule=decision.rule_name,
            )
            async with self._turn:  # calls at the same time would let each other's clock go on
                with self.clock.standing_still():
                    answer = await self.asker.ask(question)
        allowed = self.approvals.unattended == "allow" if answer is None else answer
        return Approved(
            "ask_allowed" if allowed else "ask_denied",
            decision.rule_name,
            by="unattended" if answer is None else "terminal",
            waited_s=watch.seconds,
        )


def _key(call: ToolCall) -> str:
    return f"{call.id}\0{Called(call.function, call.arguments).key}"


_guard: ContextVar[Guard | None] = ContextVar("evalkit_guard", default=None)
"""No parameter of the approver, because Inspect keeps and logs a copy of every parameter."""


@approver(name="evalkit")
def _evalkit() -> Approver:
    async def decide_here(
        message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]
    ) -> Approval:
        del message, view, history
        guard = _guard.get()
        return Approval(decision="escalate") if guard is None else await guard.judge(call)

    return decide_here


async def refuse_unasked(tool: str, arguments: Mapping[str, Any], trace: CallTrace) -> None:
    """Of a tool of ours under somebody else's loop: nothing runs that was not decided here.

    Raises ToolApprovalError where it may not run.
    """
    guard = _guard.get()
    if guard is not None and current_call.get() is None:
        await guard.judge_unasked(ToolCall(trace.call_id or "", tool, dict(arguments)), trace)


def guarded(
    planned: Planned,
    *,
    asker: Asker | None,
    base: str,
    clock: AgentClock,
    further: Sequence[ApprovalPolicy] = (),
) -> AbstractContextManager[None]:
    """While the agent works: its approvals decide about every call, and `further` ones after them."""
    approvals = planned.agent.approvals
    if approvals is None:
        return nullcontext()
    return _guarding(Guard(approvals, planned, asker, base, clock, goes_on=bool(further)), further)


@contextmanager
def _guarding(guard: Guard, further: Sequence[ApprovalPolicy]) -> Generator[None]:
    token = _guard.set(guard)
    try:
        with approval([ApprovalPolicy(_evalkit(), "*"), *further]):
            yield
    finally:
        _guard.reset(token)


def approved_in(metadata: Mapping[str, Any] | None) -> Approved | None:
    """What an event of Inspect's says that was decided here; None for an approval of somebody else's."""
    said = (metadata or {}).get(_KEY)
    return Approved.from_parts(cast("Mapping[str, Any]", said)) if isinstance(said, Mapping) else None
