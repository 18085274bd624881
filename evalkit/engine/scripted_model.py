"""How does Inspect talk to a scripted persona?"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from evalkit.engine.litellm_model import THINKING
from evalkit.errors import ModelError
from evalkit.models.personas.persona import Script
from evalkit.models.reply import Reply, ToolRequest, Turn
from evalkit.models.tokens import count_reply, within

current_script: ContextVar[Script] = ContextVar("evalkit_current_script")
"""The script of the trial that is running in this context."""


class ScriptedModel(ModelAPI):
    """Inspect model provider `scripted`: answers with what the trial's script says, tokens counted."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        self._level = str(model_args.get(THINKING, "default"))
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is Inspect's
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """The script's next reply. Raises ModelError outside a trial that has a script."""
        del tools, tool_choice, config
        script = current_script.get(None)
        if script is None:
            raise ModelError(
                f"scripted/{self.model_name} has no script here",
                hint="Scripted agents play on evalkit's own tasks: evalkit run SUITE --model scripted/oracle",
            )
        conversation = [_turn(message) for message in input]
        reply = within(script.reply(conversation), self._level)
        number = sum(turn.role == "assistant" for turn in conversation)
        output = _output(f"scripted/{self.model_name}", reply, conversation, number)
        return output, ModelCall.create({"turn": number}, {"reply": repr(reply)})

    def max_connections(self) -> int:
        """No endpoint, so no bound of its own."""
        return 10_000


def _turn(message: ChatMessage) -> Turn:
    calls: tuple[ToolRequest, ...] = ()
    if isinstance(message, ChatMessageAssistant):
        calls = tuple(ToolRequest(call.function, call.arguments) for call in message.tool_calls or ())
    if not isinstance(message, ChatMessageTool):
        return Turn(role=message.role, text=message.text, calls=calls)
    error = message.error
    text = message.text if error is None else error.message
    return Turn(role=message.role, text=text, tool=message.function, error=error.type if error else None)


def _output(model: str, reply: Reply, conversation: Sequence[Turn], number: int) -> ModelOutput:
    counted = count_reply(conversation, reply)
    content: list[Content] = []
    if reply.reasoning is not None:
        content.append(ContentReasoning(reasoning=reply.reasoning))
    content.append(ContentText(text=reply.text))
    calls = [
        ToolCall(id=f"call-{number}-{index}", function=call.tool, arguments=dict(call.arguments))
        for index, call in enumerate(reply.calls)
    ]
    stop: StopReason = "tool_calls" if calls else "stop"
    message = ChatMessageAssistant(content=content, tool_calls=calls or None, model=model, source="generate")
    return ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=ModelUsage(
            input_tokens=counted.input,
            output_tokens=counted.output,
            total_tokens=counted.input + counted.output,
            reasoning_tokens=counted.reasoning,
        ),
    )
