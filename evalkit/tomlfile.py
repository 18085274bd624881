"""What does a TOML file say, does it fit the model it should fit, and on which line is it wrong?"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from evalkit.errors import ConfigError
from evalkit.modelfields import keys_at
from evalkit.textfile import read_text
from evalkit.tomlkeys import KeyPath, key_lines

M = TypeVar("M", bound=BaseModel)
_MAX_DEPTH = 40
_SUBJECT = re.compile(r"^(Input|String|Tuple|Dictionary|Value) should")
_REASONS = {
    "missing": "this key is required",
    "model_type": "should be a table",
    "dict_type": "should be a table",
    "mapping_type": "should be a table",
    "tuple_type": "should be a list",
}
"""In TOML's words, where pydantic speaks of Python's types."""
_POSITION = re.compile(r" \(at line (\d+), column \d+\)$| \(at end of document\)$")


class TomlFile:
    """One TOML document with the place it came from."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path = path
        self.text = text
        self.data = data

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        return key_lines(self.text)

    def where(self, key: KeyPath = ()) -> str:
        """`file:line` of a key, of the nearest table around it that the file has, or only `file`."""
        for length in range(len(key), 0, -1):
            if line := self._lines.get(key[:length]):
                return f"{self.path}:{line}"
        return str(self.path)

    def has(self, key: KeyPath) -> bool:
        """Whether the file itself holds this key."""
        return key in self._lines

    def error(self, message: str, key: KeyPath = (), hint: str | None = None) -> ConfigError:
        """A ConfigError that points at a key; raise it."""
        return ConfigError(message, where=self.where(key), hint=hint)

    def table(self, *key: str) -> dict[str, Any]:
        """The table at a key path; empty where there is none. Raises ConfigError where it is no table."""
        table = self.data
        for depth, part in enumerate(key, start=1):
            found = table.get(part, {})
            if not isinstance(found, dict):
                raise self.error(f"{dotted(key[:depth])} should be a table", key[:depth])
            table = cast("dict[str, Any]", found)
        return table

    def validate(self, model: type[M], data: Mapping[str, Any], prefix: KeyPath = ()) -> M:
        """Fit `data`, which stands at `prefix` of this file, into `model`. Raises ConfigError."""
        try:
            return model.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False)
        first = _telling(details)
        loc = cast("KeyPath", first["loc"])
        key = _real_path(data, loc)
        if first["type"] == "extra_forbidden":
            raise self.error(
                f"unknown key {dotted((*prefix, *key))}",
                (*prefix, *key),
                nearest(str(key[-1]), keys_at(model, key[:-1])),
            ) from None
        message = f"{dotted((*prefix, *key))}: {_reason(first)}" if prefix or key else _reason(first)
        raise self.error(message, (*prefix, *key)) from None


def read_toml(path: Path, *, hint: str | None = None) -> TomlFile:
    """Read a TOML file. Raises ConfigError with file and line; `hint` is given where the file is missing."""
    text = read_text(path, hint=hint)
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ConfigError("values are nested too deeply", where=str(path)) from None
    except ValueError as error:
        raise _syntax_error(path, text, str(error)) from None
    _check_values(path, data)
    return TomlFile(path, text, data)


def dotted(key: KeyPath) -> str:
    """A key path as people write it: `steps[1].agent.timeout_sec`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known name, or all of them where none is near."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known here: {', '.join(names)}." if names else "No keys are known here."


def _telling(details: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first mistake; where a key is missing, the unknown one beside it that is most like it tells more."""
    first = details[0]
    if first["type"] != "missing":
        return first
    *table, wanted = first["loc"]
    beside = {
        str(one["loc"][-1]): one
        for one in details
        if one["type"] == "extra_forbidden" and [*one["loc"][:-1]] == table
    }
    close = difflib.get_close_matches(str(wanted), beside, n=1, cutoff=0.0)
    return beside[close[0]] if close else first


def _syntax_error(path: Path, text: str, message: str) -> ConfigError:
    position = _POSITION.search(message)
    if position is None:
        return ConfigError(f"not valid TOML: {message}", where=str(path))
    line = position.group(1) or text.rstrip("\n").count("\n") + 1
    return ConfigError(f"not valid TOML: {message[: position.start()]}", where=f"{path}:{line}")


def _check_values(path: Path, data: dict[str, Any]) -> None:
    """Refuse what later code should not have to expect: deep nesting, and numbers beyond TOML's 64 bits."""
    level: list[object] = [data]
    for _ in range(_MAX_DEPTH):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(cast("dict[str, object]", item).values())
            elif isinstance(item, list):
                below.extend(cast("list[object]", item))
            elif isinstance(item, int) and not -(2**63) <= item < 2**63:
                raise ConfigError("not valid TOML: a number has more than 64 bits", where=str(path))
        level = below
    if level:
        raise ConfigError(
            f"values are nested too deeply: at most {_MAX_DEPTH} levels are read", where=str(path)
        )


def _real_path(data: object, loc: KeyPath) -> KeyPath:
    """`loc` without what pydantic adds to it (the branch of a union), up to a key that may be missing."""
    path: KeyPath = ()
    for part in loc:
        if isinstance(data, Mapping):
            data = cast("Mapping[str | int, object]", data).get(part)
            path = (*path, part)
        elif isinstance(data, list | tuple) and isinstance(part, int):
            items = cast("list[object]", data)
            data = items[part] if part < len(items) else None
            path = (*path, part)
        else:
            return path
    return path


def _reason(detail: Mapping[str, Any]) -> str:
    known = _REASONS.get(str(detail["type"]))
    if known is not None:
        return known
    reason = _SUBJECT.sub("should", str(detail["msg"]).removeprefix("Value error, "))
    reason = reason.replace(" after validation", "")
    given = detail["input"]
    if detail["type"] == "value_error" or not isinstance(given, str | int | float):
        return reason
    shown = repr(given)
    return f"{reason}, not {shown if len(shown) <= 60 else shown[:57] + '...'}"
