"""How does Inspect ask a model through litellm?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    RetryDecision,
    StopReason,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from evalkit.engine.answer import REFUSED, output_of
from evalkit.engine.attempts import RetryWait, current_attempts
from evalkit.engine.paid_call import ask
from evalkit.engine.wire_messages import wire_messages, wire_tool_choice, wire_tools
from evalkit.errors import ModelError
from evalkit.models.access import endpoint_for
from evalkit.models.endpoint import Completion, Question
from evalkit.models.failure import LONGEST_WAIT_S, Ending, EndpointFailure
from evalkit.models.name import parse_model
from evalkit.models.refusals import Refusals
from evalkit.models.tariff import tariff_of

_SENT = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "stop_seqs": "stop",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "logit_bias": "logit_bias",
    "parallel_tool_calls": "parallel_tool_calls",
    "reasoning_effort": "reasoning_effort",
    "extra_body": "extra_body",
    "extra_headers": "extra_headers",
}
"""Which of Inspect's settings go out, and under which name litellm takes them."""
_NOT_FOR_THE_MODEL = frozenset(
    {
        "max_retries",
        "timeout",
        "attempt_timeout",
        "stream_idle_timeout",
        "max_connections",
        "adaptive_connections",
        "system_message",
        "cache",
        "max_tool_output",
        "reasoning_history",
        "num_choices",
        "retry_refusals",
    }
)
"""What Inspect itself does with its settings."""
THINKING = "thinking"
"""Under which name the model is given its level of thinking."""


class LitellmModel(ModelAPI):
    """Inspect model provider `evalkit`: any endpoint that litellm knows, by litellm's name for it."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        level = str(model_args.get(THINKING, "default"))
        self._endpoint = endpoint_for(parse_model(model_name), base_url, level)
        self._tariff = tariff_of(model_name, base_url)
        self._refusals = Refusals()

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is Inspect's
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput | tuple[ModelOutput, ModelCall]:
        """One attempt. Raises EndpointFailure; Inspect decides with `should_retry` whether there is another."""
        self._refusals.check()
        parameters = _parameters(config)
        self._endpoint.check_settings(parameters)
        question = Question(
            messages=await wire_messages(input),
            tools=wire_tools(tools),
            tool_choice=wire_tool_choice(tool_choice),
            parameters=parameters,
        )
        try:
            completion, cost = await ask(self._endpoint, self._tariff, question)
        except EndpointFailure as failure:
            if failure.cause.ending is not None:
                return _ended(self.model_name, failure.cause.ending, failure.message)
            self._refusals.note(failure)
            attempts = current_attempts.get()
            if attempts is not None:
                attempts.lose(failure, self._tariff.price)
            raise
        self._refusals.answered = True
        output = output_of(completion, model=self.model_name, cost_usd=cost.usd, price_source=cost.source)
        return output, _model_call(completion)

    def should_retry(self, ex: Exception) -> RetryDecision:
        """Passing trouble is worth another attempt; an answer that says no is not."""
        if not isinstance(ex, EndpointFailure) or not ex.cause.retryable:
            return RetryDecision.no()
        asked = ex.cause.retry_after_s
        if asked is not None and asked > LONGEST_WAIT_S:
            return RetryDecision.no()
        if ex.cause.status == 429:
            return RetryDecision.rate_limit(asked)
        return RetryDecision.transient(asked)

    def retry_wait(self) -> RetryWait:
        """As long as the endpoint asks."""
        return RetryWait()

    def max_connections(self) -> int:
        """Where Inspect's adaptive concurrency begins to learn."""
        return 20

    def connection_key(self) -> str:
        """One pool an endpoint."""
        return f"{self._endpoint.base_url or ''}|{self.model_name.partition('/')[0]}"


def _parameters(config: GenerateConfig) -> dict[str, object]:
    """What goes out of a config. Raises ModelError for what was set and cannot be sent: nothing is left out."""
    asked = config.model_dump(exclude_none=True)
    unknown = sorted(set(asked) - set(_SENT) - _NOT_FOR_THE_MODEL)
    if unknown:
        raise ModelError(
            f"evalkit cannot send these settings: {', '.join(unknown)}",
            hint="Leave them out, or use Inspect's own provider: inspect/PROVIDER/MODEL",
        )
    return {sent: asked[name] for name, sent in _SENT.items() if name in asked}


def _ended(model: str, ending: Ending, said: str) -> ModelOutput:
    """An output for a refusal that is how the conversation ends; nothing was generated."""
    stop: StopReason = "model_length" if ending == "context_length" else "content_filter"
    message = ChatMessageAssistant(content="", model=model, source="generate")
    return ModelOutput(
        model="",
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=ModelUsage(),
        metadata={REFUSED: said},
    )


def _model_call(completion: Completion) -> ModelCall:
    """The call as it went over the wire, for Inspect's log."""
    return ModelCall.create(_object(completion.sent), _object(completion.received), time=completion.seconds)


def _object(text: str) -> Mapping[str, object]:
    """JSON text as an object; a stream, or what is no object, under one key."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {"value": value}
