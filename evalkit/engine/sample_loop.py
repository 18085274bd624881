"""How does our own loop work on a sample of an Inspect task?"""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
)

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.attempts import model_config
from evalkit.engine.loop import LoopInput, Outcome
from evalkit.engine.loops import run_loop
from evalkit.engine.plan import PlannedSample
from evalkit.engine.recorder import Recorder
from evalkit.engine.solving import Solving
from evalkit.engine.spending import Spending
from evalkit.engine.tools import agent_tools
from evalkit.errors import SandboxError


async def react_on_sample(
    planned: PlannedSample,
    solving: Solving,
    model: Model,
    recorder: Recorder,
    *,
    clock: AgentClock,
    spending: Spending,
) -> Outcome:
    """Set the sample up as its task says, then work on what it says with our own tools.

    Afterwards the state holds what scorers read: the conversation, and the answer as the last output.
    """
    if solving.box is None:
        raise SandboxError("our own loop needs a sandbox, and the sample has none")
    task = planned.suite.task
    setup = task.setup if isinstance(task.setup, Sequence) else [task.setup] if task.setup else []
    for one in setup:
        solving.state = await one(solving.state, solving.generate)
    given = LoopInput(
        instruction=_instruction(solving),
        model=model,
        tools=tuple(agent_tools(solving.box.inner, planned.agent.tool_settings, asks_confidence=False)),
        sandbox=solving.box.inner,
        recorder=recorder,
        limits=planned.limits,
        config=model_config(planned.agent),
        clock=clock,
        spending=spending,
    )
    try:
        outcome = await run_loop(planned.agent.own, given)
    except BaseException:  # a limit too
        _hand_over(solving, given, "")
        raise
    _hand_over(solving, given, outcome.ending.answer if outcome.ending else "")
    return outcome


def _hand_over(solving: Solving, given: LoopInput, answer: str) -> None:
    solving.state.messages = list(given.messages)
    solving.state.output = ModelOutput.from_content(str(given.model), answer or _last_words(given))


def _instruction(solving: Solving) -> str:
    said = (
        message.text
        for message in solving.state.messages
        if isinstance(message, ChatMessageSystem | ChatMessageUser)
    )
    return "\n\n".join(said)


def _last_words(given: LoopInput) -> str:
    said = [message.text for message in given.messages if isinstance(message, ChatMessageAssistant)]
    return said[-1] if said else ""
