"""How is a model asked through litellm, and what is kept of its answer?"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (litellm is loosely typed)

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import httpx

from evalkit.models import wire
from evalkit.models.failure import (
    Cause,
    EndpointFailure,
    error_text,
    hint_for,
    judge_status,
    network_reason,
    was_sent,
)
from evalkit.models.giving_back import given_back, litellms_own
from evalkit.models.litellm_setup import load
from evalkit.models.reading import Call, Reading
from evalkit.models.wiretap import LONGEST_ANSWER, Exchange, listening

Json = Mapping[str, object]
CONNECT_S = 30.0
SILENCE_S = 600.0
"""An endpoint that sends nothing for so long in the middle of a stream counts as gone."""
WHOLE_S = 3600.0
"""The same for an answer that comes all at once: a model may think for long."""


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
    name: str = ""
    """What errors call it; empty: as `model`."""

    async def ask(self, question: Question) -> Completion:
        """One attempt. Raises EndpointFailure, which says whether another is worth it; never tries again itself."""
        litellm = load()
        litellm.aclient_session = litellm.in_memory_llm_clients_cache.client()
        with listening() as heard:
            try:
                answered = await self._call(litellm, question)
            except Exception as error:
                known = _rejected_call(heard) or _understood(heard)
                if known is not None:
                    return known
                raise self._failure(error, heard) from error
        return self._completion(answered, heard)

    async def _call(self, litellm: Any, question: Question) -> Any:
        options: dict[str, object] = {}
        if question.tools:
            options["tools"] = list(question.tools)
            if question.tool_choice is not None:
                options["tool_choice"] = question.tool_choice
        if self.stream:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        answer = await litellm.acompletion(
            model=self.model,
            messages=_sendable([dict(message) for message in question.messages]),
            api_base=self.base_url,
            api_key=self.api_key,
            max_retries=0,
            num_retries=0,
            timeout=httpx.Timeout(SILENCE_S if self.stream else WHOLE_S, connect=CONNECT_S),
            **{**options, **self.always, **question.parameters},
        )
        if not self.stream:
            return answer
        chunks = [chunk async for chunk in answer]
        return litellm.stream_chunk_builder(chunks)

    def _completion(self, answered: Any, heard: Sequence[Exchange]) -> Completion:
        exchange = heard[-1] if heard else None
        body = exchange.body if exchange else b""
        reading = wire.read(body, _content_type(exchange)) if exchange else None
        normalised = cast("dict[str, Any]", answered.model_dump(exclude_none=True)) if answered else {}
        if reading is None:
            reading = wire.read_object(normalised) or Reading()
        if not _is_sound(reading):
            raise self._broken(reading, exchange)
        return Completion(
            reading=reading,
            message=given_back(body, reading) or litellms_own(normalised),
            sent=exchange.sent if exchange else "",
            received=body.decode("utf-8", "replace"),
            seconds=time.perf_counter() - exchange.began if exchange else 0.0,
        )

    def _failure(self, error: Exception, heard: Sequence[Exchange]) -> EndpointFailure:
        exchange = heard[-1] if heard else None
        if exchange is None or exchange.status is None:
            return self._unanswered(error, exchange)
        if exchange.status >= 400:
            body = exchange.body.decode("utf-8", "replace")
            cause = judge_status(exchange.status, body, exchange.headers, error)
            return EndpointFailure(
                f"{self._name} answered HTTP {exchange.status}: {error_text(body) or 'no reason given'}",
                cause,
                hint=hint_for(exchange.status),
            )
        if exchange.too_long:
            return EndpointFailure(
                f"{self._name} gave an answer that is longer than {LONGEST_ANSWER:,} bytes",
                Cause(exchange.status, retryable=False, maybe_billed=True),
            )
        reading = wire.read(exchange.body, _content_type(exchange))
        if reading is not None and (reading.error is not None or not reading.complete):
            return self._broken(reading, exchange)
        return EndpointFailure(
            f"{self._name} gave an answer that makes no sense: {_first_line(error)}",
            Cause(exchange.status, retryable=True, maybe_billed=True),
        )

    def _broken(self, reading: Reading, exchange: Exchange | None) -> EndpointFailure:
        status = exchange.status if exchange else None
        if reading.error is not None:
            return EndpointFailure(
                f"{self._name} broke its answer off with an error: {reading.error}",
                Cause(status, retryable=True, maybe_billed=True),
            )
        what = "gave an answer without content" if reading.complete else "broke its answer off before the end"
        return EndpointFailure(f"{self._name} {what}", Cause(status, retryable=True, maybe_billed=True))

    def _unanswered(self, error: Exception, exchange: Exchange | None) -> EndpointFailure:
        if exchange is not None:
            sent = was_sent(error)
            what = "did not answer" if sent else "could not be reached"
            return EndpointFailure(
                f"{self._name} {what}: {network_reason(error) or _first_line(error)}",
                Cause(None, retryable=True, maybe_billed=sent),
                hint="Check --base-url and the network." if self.base_url else None,
            )
        status = getattr(error, "status_code", None)
        return EndpointFailure(
            f"{self._name} could not be asked: {_first_line(error)}",
            Cause(status if isinstance(status, int) else None, retryable=False),
            hint=hint_for(status) if isinstance(status, int) else None,
        )

    @property
    def _name(self) -> str:
        name = self.name or self.model
        return f"{name} at {self.base_url}" if self.base_url else name


def _sendable(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    """The messages themselves, or without the lone surrogates that a model may write and UTF-8 cannot hold."""
    text = json.dumps(messages, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return messages


def _is_sound(reading: Reading) -> bool:
    if reading.error is not None or not reading.complete:
        return False
    return bool(reading.blocks) or reading.finish_raw is not None


def _understood(heard: Sequence[Exchange]) -> Completion | None:
    """An answer that litellm stumbles over and that is sound all the same."""
    exchange = heard[-1] if heard else None
    if exchange is None or exchange.status != 200 or not exchange.whole:
        return None
    reading = wire.read(exchange.body, _content_type(exchange))
    message = given_back(exchange.body, reading) if reading is not None and _is_sound(reading) else None
    if reading is None or message is None:
        return None
    return Completion(
        reading=reading,
        message=message,
        sent=exchange.sent,
        received=exchange.body.decode("utf-8", "replace"),
        seconds=time.perf_counter() - exchange.began,
    )


def _content_type(exchange: Exchange | None) -> str:
    return exchange.headers.get("content-type", "") if exchange else ""


_NOISE = ("Traceback (most recent call last)", "This looks like a bug in LiteLLM")
"""What litellm adds to the messages of errors inside itself."""


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    for noise in _NOISE:
        text = text.partition(noise)[0]
    return " ".join(text.split())[:500]


def _rejected_call(heard: Sequence[Exchange]) -> Completion | None:
    """A tool call of the model's that the endpoint itself found invalid (Groq): the model's mistake, not a failure."""
    exchange = heard[-1] if heard else None
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
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call.id, "type": "function", "function": {"name": tool, "arguments": "{}"}}],
    }
    return Completion(
        reading=Reading(blocks=(call,), finish="tool_calls", finish_raw="tool_use_failed"),
        message=message,
        invalid_calls={0: str(error.get("message", "invalid tool call"))},
        sent=exchange.sent,
        received=exchange.body.decode("utf-8", "replace"),
        seconds=time.perf_counter() - exchange.began,
    )
