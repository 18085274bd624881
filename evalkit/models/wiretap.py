"""What really went out to an endpoint, and what really came back?

litellm rewrites requests and fills in what responses leave open. The truth is on the wire, so every request of a call
is heard there: body, status, headers and the response as far as it came, also when it was cut off.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

import httpx

from evalkit.models.thinking_wire import merged


@dataclass(slots=True)
class Exchange:
    """One HTTP request of a call, with its response as far as it came."""

    request: bytes
    secrets: tuple[str, ...] = ()
    """The keys that went along, which nothing that is kept may hold."""
    began: float = field(default_factory=time.perf_counter)
    """On the monotonic clock, in seconds."""
    status: int | None = None
    """None while, or because, nothing came back."""
    headers: httpx.Headers = field(default_factory=httpx.Headers)
    received: bytearray = field(default_factory=bytearray)
    whole: bool = False
    """The body was received to its end."""
    sent_on_to: str | None = None
    """Another host to which the endpoint wanted the request, key and all, to be sent on."""
    too_long: bool = False
    """The body was given up, because it is longer than any answer."""

    @property
    def body(self) -> bytes:
        """The response as far as it came, decoded; empty where its encoding makes no sense."""
        kept = (
            {"content-encoding": self.headers["content-encoding"]}
            if "content-encoding" in self.headers
            else {}
        )
        try:
            return self._without_secrets(
                httpx.Response(200, headers=kept, content=bytes(self.received)).content
            )
        except httpx.DecodingError:
            return b""

    @property
    def asks(self) -> Mapping[str, Any] | None:
        """The request's body where it asks a model something; None for others, such as questions about a model."""
        told = _object(self.request)
        return None if told is None or _CONVERSATION.isdisjoint(told) else told

    @property
    def sent(self) -> str:
        """The request's body."""
        return self._without_secrets(self.request).decode("utf-8", "replace")

    def told(self, text: str) -> str:
        """A text about the exchange, such as an error message, without the keys."""
        for secret in self.secrets:
            text = text.replace(secret, REDACTED)
        return text

    def _without_secrets(self, data: bytes) -> bytes:
        for secret in self.secrets:
            data = data.replace(secret.encode(), REDACTED.encode())
        return self._unescaped(data) if self.secrets and b"\\" in data else data

    def _unescaped(self, data: bytes) -> bytes:
        """JSON can spell a key in many ways; what is said counts."""
        try:
            text = json.dumps(json.loads(data), ensure_ascii=False)
        except (ValueError, RecursionError):
            return data
        plain = self.told(text)
        return data if plain == text else plain.encode("utf-8", "surrogatepass")


LONGEST_ANSWER = 128 * 1024 * 1024
"""Bytes of a response; what sends more is no model."""
_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
REDACTED = "[redacted]"
_SHORTEST_KEY = 8
"""Characters; what is shorter is no key, and would be found in everything."""
_CONVERSATION = frozenset({"messages", "input", "contents", "prompt"})
"""One of these is in every request to a model."""


@dataclass(frozen=True, slots=True)
class Addition:
    """What is put into a request after litellm has made it, so that it goes out as it is."""

    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Lists of words, to which litellm's own are kept."""


@dataclass(frozen=True, slots=True)
class _Listening:
    exchanges: list[Exchange]
    addition: Addition


_heard: ContextVar[_Listening | None] = ContextVar("evalkit_heard", default=None)


@contextmanager
def listening(addition: Addition | None = None) -> Generator[list[Exchange]]:
    """The exchanges of every call made inside, in order, filled in as they happen."""
    heard = _Listening([], addition or Addition())
    token = _heard.set(heard)
    try:
        yield heard.exchanges
    finally:
        _heard.reset(token)


class _Tee(httpx.AsyncByteStream):
    """A response's body that is kept while it is read."""

    def __init__(self, inner: httpx.AsyncByteStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._exchange.received += chunk
            if len(self._exchange.received) > LONGEST_ANSWER:
                self._exchange.too_long = True
                raise httpx.ReadError(f"the answer is longer than {LONGEST_ANSWER} bytes")
            yield chunk
        self._exchange.whole = True

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _on_request(request: httpx.Request) -> None:
    heard = _heard.get()
    if heard is None:
        return
    body = _added(request, await request.aread(), heard.addition)
    exchange = Exchange(request=body, secrets=_secrets(request))
    request.extensions["evalkit_exchange"] = exchange
    heard.exchanges.append(exchange)


def _added(request: httpx.Request, body: bytes, addition: Addition) -> bytes:
    """Put an addition into a request to a model; returns the body that goes out."""
    if not addition.body and not addition.headers:
        return body
    told = _object(body)
    if told is None or _CONVERSATION.isdisjoint(told):
        return body
    for name, value in addition.headers.items():
        own = [word.strip() for word in request.headers.get(name, "").split(",") if word.strip()]
        request.headers[name] = ",".join(dict.fromkeys([*own, value]))
    if not addition.body:
        return body
    changed = json.dumps(merged(told, addition.body)).encode()
    request.stream = httpx.ByteStream(changed)
    request.headers["content-length"] = str(len(changed))
    return changed


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        told: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", told) if isinstance(told, dict) else None


def _is_at_home(response: httpx.Response) -> bool:
    """Whether a redirection stays at the endpoint: nobody else is to get the key. To https it may go up."""
    here = response.request.url
    try:
        there = here.join(response.headers["location"])
    except httpx.InvalidURL:
        return False
    if (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port):
        return True
    return here.host == there.host and (here.scheme, there.scheme) == ("http", "https")


def _secrets(request: httpx.Request) -> tuple[str, ...]:
    values = [request.headers.get(name, "").rpartition(" ")[2] for name in _KEY_HEADERS]
    values.append(request.url.params.get("key", ""))
    return tuple(value for value in values if len(value) >= _SHORTEST_KEY)


async def _on_response(response: httpx.Response) -> None:
    exchange = response.request.extensions.get("evalkit_exchange")
    if not isinstance(exchange, Exchange) or not isinstance(response.stream, httpx.AsyncByteStream):
        return
    exchange.status, exchange.headers = response.status_code, response.headers
    if response.has_redirect_location and not _is_at_home(response):
        exchange.sent_on_to = response.headers["location"]
        raise httpx.RemoteProtocolError("the endpoint sends its callers on to another address")
    response.stream = _Tee(response.stream, exchange)


HOOKS: Mapping[str, list[Callable[..., object]]] = {"request": [_on_request], "response": [_on_response]}
"""For an httpx.AsyncClient whose traffic is to be heard."""
