"""How is a model asked through litellm, and what is kept of its answer?"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (litellm is loosely typed)

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import httpx

from evalkit.models import wire as dialects
from evalkit.models.diagnosis import diagnose
from evalkit.models.failure import Cause, EndpointFailure, SentDiffers
from evalkit.models.giving_back import given_back, litellms_own, rebuilt
from evalkit.models.litellm_setup import load
from evalkit.models.reading import Call, Reading
from evalkit.models.responses_input import RESPONSES, responses_request
from evalkit.models.sent_settings import left_out
from evalkit.models.thinking import tokens_in
from evalkit.models.thinking_contradicted import check_settings
from evalkit.models.thinking_sent import body_in, knobs, level_of
from evalkit.models.thinking_wire import ThinkingWire
from evalkit.models.wiretap import Addition, Exchange, listening

Json = Mapping[str, object]
_TOLD = frozenset({"reasoning_effort", "extra_body"})
"""Parameters by which an agent loop can ask for an amount of thinking itself."""
CONNECT_S = 30.0
SILENCE_S = 600.0
"""An endpoint that sends nothing for so long in the middle of a stream counts as gone."""
WHOLE_S = 3600.0
"""The same for an answer that comes all at once: a model may think for long."""
_TRANSLATED = frozenset(
    {"bedrock", "cohere", "cohere_chat", "ollama", "ollama_chat", "replicate", "sagemaker_chat", "watsonx"}
)
"""Providers whose own dialect only litellm reads. Of all others an answer that we cannot read is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call: what the model is to be told and asked."""

    messages: Sequence[Json]
    """In the shape of OpenAI's chat completions, which litellm translates for each provider."""
    tools: Sequence[Json] = ()
    tool_choice: str | Json | None = None
    parameters: Json = field(default_factory=dict[str, object])
    """`max_tokens`, `temperature`, `seed`, `stop` and the like; only what is to be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer, with the call as it went over the wire."""

    reading: Reading
    message: Json
    """The answer as it is to be given back in the next call, signatures and all."""
    invalid_calls: Mapping[int, str] = field(default_factory=dict[int, str])
    """Calls, by their position among the calls, that the endpoint itself found invalid, and why."""
    sent: str
    """The request's body as it went out."""
    received: str
    """The response's body as it came back."""
    seconds: float
    """Of the request that succeeded."""
    thinking_sent: str = "default"
    """The level of thinking that the request's body asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is asked."""

    model: str
    """As litellm names it: provider/model."""
    base_url: str | None = None
    api_key: str | None = None
    """None: litellm takes it from the environment."""
    stream: bool = False
    always: Json = field(default_factory=dict[str, object])
    """Parameters of every call."""
    thinking: ThinkingWire = field(default_factory=ThinkingWire)
    """How much the model is told to think."""
    name: str = ""
    """What errors call it; empty: as `model`."""

    async def ask(self, question: Question) -> Completion:
        """One attempt. Raises EndpointFailure, which says whether another is worth it; never tries again itself."""
        litellm = load()
        litellm.aclient_session = litellm.in_memory_llm_clients_cache.client()
        wire = self.thinking.within(question.parameters.get("max_tokens"))
        if wire.bound is not None:  # which is put into the request by evalkit itself
            others = {name: value for name, value in question.parameters.items() if name != "max_tokens"}
            question = replace(question, parameters=others)
        addition = Addition({} if wire.parameters else wire.body, wire.headers)
        with listening(addition) as heard:
            error, normalised = None, None
            try:
                answered = await self._call(litellm, question)
                normalised = (
                    cast("dict[str, Any]", answered.model_dump(exclude_none=True)) if answered else {}
                )
            except Exception as raised:  # noqa: BLE001  what litellm makes of trouble is any exception
                error = raised
        for each in heard:
            self._check_thinking(wire, each, question)
        exchange = next(
            (each for each in reversed(heard) if each.asks is not None), next(iter(heard[-1:]), None)
        )
        if error is not None and (rejected := _rejected_call(exchange)) is not None:
            return replace(rejected, thinking_sent=wire.read_back(body_in(rejected.sent)))
        reading = self._read(exchange, normalised)
        if exchange is None or reading is None or not _is_sound(reading) or not _is_whole(exchange):
            raise diagnose(self._name, error, exchange, reading) from error
        forgotten = left_out(exchange.request, question.parameters)
        if forgotten:
            cause = Cause(exchange.status, retryable=False, maybe_billed=True)
            what = f"was asked without {', '.join(forgotten)}, which litellm leaves out for it"
            raise EndpointFailure(f"{self._name} {what}", cause, reading=reading)
        body = exchange.body
        message = given_back(body, reading)
        if message is None:
            message = rebuilt(reading) if normalised is None else litellms_own(normalised, exchange)
        completion = _completion(exchange, reading, message)
        return replace(completion, thinking_sent=wire.read_back(body_in(exchange.request)))

    @property
    def least_output(self) -> int:
        """Tokens that an answer must be allowed, because so many are for thinking."""
        budget = tokens_in(level_of(knobs(self.thinking.body)))
        return 0 if budget is None else budget + 1

    def check_settings(self, parameters: Json) -> None:
        """Raise ModelError for parameters, of an agent loop's own, that contradict how much is to be thought."""
        check_settings(self._name, self.thinking, parameters)

    def _check_thinking(self, wire: ThinkingWire, exchange: Exchange, question: Question) -> None:
        """Raise EndpointFailure where a request went out that asked for another level of thinking."""
        request = exchange.asks
        if request is None or wire.is_sent(request):
            return
        if wire.level == "default" and not _TOLD.isdisjoint(question.parameters):
            return  # an agent loop of the user's own says how much is to be thought
        raise SentDiffers(
            self._name,
            sent=wire.read_back(request),
            asked=wire.level,
            status=exchange.status,
            hint="The request was made otherwise on its way. Use --thinking default, or another level: evalkit models",
        )

    async def _call(self, litellm: Any, question: Question) -> Any:
        messages = _sendable([dict(message) for message in self.thinking.messages(question.messages)])
        common: dict[str, object] = {
            "api_base": self.base_url,
            "api_key": self.api_key,
            "max_retries": 0,
            "num_retries": 0,
            "timeout": httpx.Timeout(SILENCE_S if self.stream else WHOLE_S, connect=CONNECT_S),
        }
        asked: dict[str, object] = {**self.always, **question.parameters, **self.thinking.parameters}
        if self.model.startswith(RESPONSES):
            request = responses_request(messages, question.tools, question.tool_choice, asked)
            return await litellm.aresponses(
                model=f"openai/{self.model.removeprefix(RESPONSES)}", **request, **common
            )
        if question.tools:
            asked["tools"] = list(question.tools)
            if question.tool_choice is not None:
                asked["tool_choice"] = question.tool_choice
        if self.stream:
            asked |= {"stream": True, "stream_options": {"include_usage": True}}
        answer = await litellm.acompletion(model=self.model, messages=messages, **common, **asked)
        if not self.stream:
            return answer
        chunks = [chunk async for chunk in answer]
        return litellm.stream_chunk_builder(chunks)

    def _read(self, exchange: Exchange | None, normalised: Mapping[str, Any] | None) -> Reading | None:
        if exchange is None or exchange.status is None or not 200 <= exchange.status < 300:
            return None
        reading = dialects.read(exchange.body, exchange.headers.get("content-type", ""))
        if reading is None and normalised and self.model.partition("/")[0] in _TRANSLATED:
            return dialects.read_object(normalised)
        return reading

    @property
    def _name(self) -> str:
        name = self.name or self.model
        return f"{name} at {self.base_url}" if self.base_url else name


def _completion(
    exchange: Exchange, reading: Reading, message: Json, invalid: Mapping[int, str] | None = None
) -> Completion:
    return Completion(
        reading=reading,
        message=message,
        invalid_calls=invalid or {},
        sent=exchange.sent,
        received=exchange.body.decode("utf-8", "replace"),
        seconds=time.perf_counter() - exchange.began,
    )


def _sendable(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    """The messages themselves, or without the lone surrogates that a model may write and UTF-8 cannot hold."""
    text = json.dumps(messages, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return messages


def _is_whole(exchange: Exchange) -> bool:
    """Whether the body came to its end; of a stream, whose end is an event, that does not matter."""
    return exchange.whole or "event-stream" in exchange.headers.get("content-type", "")


def _is_sound(reading: Reading) -> bool:
    if reading.error is not None or not reading.complete:
        return False
    return bool(reading.blocks) or reading.finish_raw is not None


def _rejected_call(exchange: Exchange | None) -> Completion | None:
    """A tool call of the model's that the endpoint itself found invalid (Groq): the model's mistake, not a failure."""
    if exchange is None or exchange.status != 400:
        return None
    try:
        error = json.loads(exchange.body)["error"]
        if error["code"] != "tool_use_failed":
            return None
        written = json.loads(error["failed_generation"])
        tool, arguments = str(written["name"]), json.dumps(written.get("arguments"))
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    call = Call(id="call-0", tool=tool, arguments=arguments)
    reading = Reading(blocks=(call,), finish="tool_calls", finish_raw="tool_use_failed")
    why = {0: str(error.get("message", "invalid tool call"))}
    return _completion(exchange, reading, rebuilt(reading), why)
