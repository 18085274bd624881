"""How is a level of thinking told to a model, and was it told so?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from evalkit.models.name import ModelName
from evalkit.models.thinking_sent import knobs, level_of
from evalkit.models.thinking_table import PREFIX, SYSTEM, Row, row_for
from evalkit.models.wire.json_values import as_object

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingWire:
    """What goes out for one level of thinking. The default level says nothing."""

    level: str = "default"
    body: Json = field(default_factory=dict[str, Any])
    """Merged into the request's body."""
    parameters: Json = field(default_factory=dict[str, Any])
    """For litellm, in place of the body, where requests are signed."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    system: str | None = None
    """A line before the system message."""
    prefix: str | None = None
    """Words before the user's first message."""

    @property
    def bound(self) -> int | None:
        """The tokens of a whole answer, where these are what the budget bounds."""
        bound = self.body.get("max_tokens")
        return bound if isinstance(bound, int) else None

    def within(self, max_tokens: object) -> ThinkingWire:
        """The same for an answer that may have so many tokens, where these are what the budget bounds."""
        if self.bound is None or not isinstance(max_tokens, int) or max_tokens >= self.bound:
            return self
        return replace(self, body={**self.body, "max_tokens": max_tokens})

    def messages(self, messages: Sequence[Json]) -> list[Json]:
        """The conversation with the words that say the level."""
        told = list(messages)
        if self.system is not None:
            told = _with_system(told, self.system)
        if self.prefix is not None:
            told = _with_prefix(told, self.prefix)
        return told

    def read_back(self, request: Json) -> str:
        """The level that a request's body asks for: the wire's own where it holds exactly what that says."""
        found = knobs(request)
        if not found and not self.is_silent and self._is_said_in(request, found):
            return self.level
        return level_of(found)

    @property
    def is_silent(self) -> bool:
        """Whether nothing at all is said, because the default is meant."""
        return not self.body and self.system is None and self.prefix is None

    def is_sent(self, request: Json) -> bool:
        """Whether a request's body asks for this level exactly."""
        return self._is_said_in(request, knobs(request))

    def _is_said_in(self, request: Json, found: Json) -> bool:
        if found != knobs(self.body) or not _holds(request, self.body):
            return False
        spoken = _spoken(request)
        if self.system is not None and not any(text.startswith(self.system) for text in spoken["system"]):
            return False
        return self.prefix is None or any(text.startswith(self.prefix) for text in spoken["user"])


def wire_for(row: Row, level: str, *, responses: bool = False) -> ThinkingWire:
    """What a row says for a level that it has."""
    piece = dict(row.piece(level, responses=responses))
    system, prefix = piece.pop(SYSTEM, None), piece.pop(PREFIX, None)
    inner: Json = as_object(piece.get(row.envelope)) if row.envelope else {}
    thinks = level not in {"default", "off"}
    return ThinkingWire(
        level=level,
        body=piece,
        parameters=inner,
        headers=row.headers if thinks else {},
        system=system,
        prefix=prefix,
    )


def wire_of(model: ModelName, level: str, *, responses: bool = False) -> ThinkingWire:
    """What a model is told of a level that it has; nothing where nothing is known of it."""
    row = row_for(model)
    return ThinkingWire() if row is None or level == "default" else wire_for(row, level, responses=responses)


def merged(body: Json, piece: Json) -> dict[str, Any]:
    """A body with a piece in it, whose values win."""
    result = dict(body)
    for name, value in piece.items():
        old = result.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            value = merged(cast("Json", old), cast("Json", value))  # noqa: PLW2901
        result[name] = value
    return result


def _holds(body: Json, piece: Json) -> bool:
    for name, value in piece.items():
        found = body.get(name)
        if isinstance(value, Mapping):
            if not isinstance(found, Mapping) or not _holds(cast("Json", found), cast("Json", value)):
                return False
        elif type(found) is not type(value) or found != value:
            return False
    return True


def _spoken(request: Json) -> dict[str, list[str]]:
    """The texts of the system's and the user's messages in a body of OpenAI's chat completions."""
    spoken: dict[str, list[str]] = {"system": [], "user": []}
    told = request.get("messages")
    for message in cast("list[Any]", told) if isinstance(told, list) else []:
        fields = as_object(message)
        role = "system" if fields.get("role") == "developer" else fields.get("role")
        if role in spoken:
            spoken[str(role)].append(_text(fields.get("content")))
    return spoken


def _text(content: object) -> str:
    if not isinstance(content, list):
        return str(content or "")
    parts = [cast("Json", part) for part in cast("list[object]", content) if isinstance(part, Mapping)]
    return "".join(str(part.get("text") or "") for part in parts)


def _with_system(messages: list[Json], line: str) -> list[Json]:
    for index, message in enumerate(messages):
        if message.get("role") == "system":
            return [*messages[:index], _before(message, f"{line}\n"), *messages[index + 1 :]]
    return [{"role": "system", "content": line}, *messages]


def _with_prefix(messages: list[Json], words: str) -> list[Json]:
    for index, message in enumerate(messages):
        if message.get("role") == "user":
            return [*messages[:index], _before(message, f"{words} "), *messages[index + 1 :]]
    return messages


def _before(message: Json, words: str) -> Json:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": words}, *cast("list[Any]", content)]}
    return {**message, "content": f"{words}{content or ''}"}
