"""Which levels of thinking does a model have, and what says each of them on the wire?

`thinking.toml` beside this file is the table; its head explains the keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evalkit.models.name import ModelName
from evalkit.models.thinking import EFFORTS, effort_in, tokens_in
from evalkit.tomlfile import read_toml

TABLE = Path(__file__).with_name("thinking.toml")
Effort = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
Piece = Mapping[str, Any]
SYSTEM, PREFIX = "$system", "$prefix"
_TOKENS, _EFFORT = "$N", "$E"
_INSPECTS = {
    "google": "gemini",
    "vertex": "vertex_ai",
    "grok": "xai",
    "together": "together_ai",
    "fireworks": "fireworks_ai",
    "vllm": "hosted_vllm",
    "hf": "huggingface",
    "openai-api": "openai-compatible",
    "sglang": "openai-compatible",
    "llama-cpp-python": "openai-compatible",
    "azureai": "azure",
}
"""Inspect's words for providers, and the table's."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Levels(_Frozen):
    """What each level sends; None where there is no such level."""

    off: Piece | None = None
    on: Piece | None = None
    dynamic: Piece | None = None
    tokens: Piece | None = None
    effort: Piece | None = None


class Row(Levels):
    """One family of models."""

    name: str
    providers: Annotated[tuple[str, ...], Field(min_length=1)]
    models: Annotated[tuple[str, ...], Field(min_length=1)]
    source: str
    """Where the row comes from."""
    note: str = ""
    exact: bool = False
    """Every level is kept to by evalkit itself."""
    efforts: tuple[Effort, ...] = ()
    effort_tokens: Mapping[Effort, int] = Field(default_factory=dict[Effort, int])
    least: int = 1
    most: int | None = None
    below_max_tokens: bool = False
    temperatures: tuple[float, ...] | None = None
    """That can be set while thinking; None: any."""
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])
    responses: Levels = Levels()
    envelope: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Row:
        if bool(self.efforts) != (self.effort is not None):
            raise ValueError("effort and efforts belong together")
        if self.effort_tokens and self.tokens is None:
            raise ValueError("effort_tokens needs tokens")
        if self.effort is not None and self.effort_tokens:
            raise ValueError("effort and effort_tokens exclude each other")
        return self

    @property
    def levels(self) -> tuple[str, ...]:
        """Every level that there is, least first; `tokens:N` stands for the numbers."""
        if self.exact:
            return ("default", "off", "on", "dynamic", *(f"effort:{word}" for word in EFFORTS), "tokens:N")
        plain = tuple(name for name in ("off", "on", "dynamic") if getattr(self, name) is not None)
        words = set(self.efforts) | set(self.effort_tokens)
        efforts = tuple(f"effort:{word}" for word in EFFORTS if word in words)
        return ("default", *plain, *efforts, *(() if self.tokens is None else ("tokens:N",)))

    @property
    def numbers(self) -> str:
        """Which numbers of tokens can be asked for, in words, such as `1024 or more`; empty where none can."""
        if self.tokens is None and not self.exact:
            return ""
        if self.most is not None:
            return f"{self.least} to {self.most}"
        return f"{self.least} or more"

    @property
    def bounds_answers(self) -> bool:
        """Whether a number of tokens bounds the whole answer, because nothing bounds thinking alone."""
        return "max_tokens" in (self.tokens or {})

    def has(self, level: str) -> bool:
        """Whether there is such a level, as `effort:high` or `tokens:2048`."""
        number = tokens_in(level)
        if number is None:
            return level in self.levels
        return bool(self.numbers) and self.least <= number <= (self.most or number)

    def piece(self, level: str, *, responses: bool = False) -> Piece:
        """What a level that there is sends: a part of the request's body, and words of the conversation."""
        if level == "default" or self.exact:
            return {}
        instead = self.tokens_for(level)
        if instead is not None:
            return self.piece(f"tokens:{instead}", responses=responses)
        kind = level.partition(":")[0]
        found = getattr(self.responses, kind) if responses else None
        piece: Piece = getattr(self, kind) if found is None else found
        return _filled(piece, {_TOKENS: tokens_in(level), _EFFORT: effort_in(level)})

    def tokens_for(self, level: str) -> int | None:
        """The number of tokens that evalkit sends in place of an effort; None where the model has the level itself."""
        word = effort_in(level)
        return next((number for effort, number in self.effort_tokens.items() if effort == word), None)


class _Table(_Frozen):
    row: tuple[Row, ...]


@cache
def rows() -> tuple[Row, ...]:
    """The whole table, in its order. Raises ConfigError where the file is wrong."""
    file = read_toml(TABLE)
    return file.validate(_Table, file.data).row


def row_for(model: ModelName) -> Row | None:
    """The row of a model; None where nothing is known of its thinking."""
    name = model.name.rpartition("/")[2].lower()
    provider = _INSPECTS.get(model.provider, model.provider) if model.route == "inspect" else model.provider
    return next((row for row in rows() if _fits(row, provider, name)), None)


def _fits(row: Row, provider: str, name: str) -> bool:
    return provider in row.providers and any(fnmatchcase(name, pattern) for pattern in row.models)


def _filled(piece: Any, values: Mapping[str, object]) -> Any:
    if isinstance(piece, Mapping):
        return dict(_items(cast("Piece", piece), values))
    return values.get(piece, piece) if isinstance(piece, str) else piece


def _items(piece: Mapping[str, Any], values: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    for key, value in piece.items():
        yield key, _filled(value, values)
