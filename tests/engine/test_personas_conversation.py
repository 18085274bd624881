"""What a scripted agent hears of the conversation, in Inspect's words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.tool import ToolCall, ToolCallError

from evalkit.engine.scripted_model import ScriptedModel, current_script
from evalkit.models.reply import Reply, ToolRequest, Turn


class Listener:
    """Keeps what it hears."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        self.heard = list(conversation)
        return Reply(text="I see.")


async def hear(*messages: ChatMessage) -> list[Turn]:
    listener = Listener()
    token = current_script.set(listener)
    try:
        await ScriptedModel("oracle").generate(list(messages), [], "auto", GenerateConfig())
    finally:
        current_script.reset(token)
    return listener.heard


@pytest.mark.anyio
async def test_a_call_and_its_result_are_heard() -> None:
    call = ToolCall(id="1", function="bash", arguments={"command": "ls"})
    heard = await hear(
        ChatMessageUser(content="Go."),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="out\n", tool_call_id="1", function="bash"),
    )
    assert heard == [
        Turn("user", "Go."),
        Turn("assistant", "", calls=(ToolRequest("bash", {"command": "ls"}),)),
        Turn("tool", "out\n", tool="bash"),
    ]


@pytest.mark.anyio
async def test_an_error_that_a_tool_raised_is_heard_with_its_kind() -> None:
    error = ToolCallError("timeout", "Command timed out before completing.")
    heard = await hear(ChatMessageTool(content="", tool_call_id="1", function="bash", error=error))
    assert heard == [Turn("tool", "Command timed out before completing.", tool="bash", error="timeout")]
