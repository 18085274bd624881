"""What does a task.toml say, with a suite's defaults under it?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evalkit.modelfields import keys_at, unknown_keys
from evalkit.tasks.harbor import SCHEMA_VERSION, HarborTask
from evalkit.tasks.hostenv import wanted
from evalkit.tasks.settings import Settings
from evalkit.tasks.spelling import modernised
from evalkit.tomlfile import TomlFile, dotted, nearest, read_toml
from evalkit.tomlkeys import KeyPath


@dataclass(frozen=True, slots=True)
class Document:
    """A task.toml that has been read and found valid."""

    source: TomlFile
    harbor: HarborTask
    settings: Settings
    warnings: tuple[str, ...]


def read_document(path: Path, defaults: Mapping[str, Any]) -> Document:
    """Read a task.toml and lay it over `defaults`. Raises ConfigError with file and line."""
    source = read_toml(path, hint="A task folder holds task.toml, instruction.md and tests/test.sh.")
    table, warnings = modernised(source)
    return validated(source, merged(defaults, table), warnings)


def validated(
    source: TomlFile, table: Mapping[str, Any], warnings: tuple[str, ...], *prefix: str
) -> Document:
    """The document that `table`, which stands at `prefix` of `source`, describes."""
    harbor = source.validate(HarborTask, table, prefix)
    if harbor.environment.os == "windows":
        raise source.error(
            "this task is for Windows; evalkit runs Linux tasks only", (*prefix, "environment", "os")
        )
    settings = _settings(source, harbor, prefix)
    return Document(source, harbor, settings, (*warnings, *_warnings(source, harbor, prefix)))


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` laid over `below`: tables are merged key by key, everything else is replaced."""
    result = dict(below)
    for key, value in above.items():
        under = result.get(key)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            result[key] = merged(cast("Mapping[str, Any]", under), cast("Mapping[str, Any]", value))
        else:
            result[key] = value
    return result


def _settings(source: TomlFile, harbor: HarborTask, prefix: tuple[str, ...]) -> Settings:
    key = (*prefix, "metadata", "evalkit")
    own = harbor.metadata.get("evalkit", {})
    if not isinstance(own, dict):
        raise source.error(f"{dotted(key)} should be a table", key)
    return source.validate(Settings, cast("dict[str, Any]", own), key)


def _warnings(source: TomlFile, harbor: HarborTask, prefix: tuple[str, ...]) -> Iterator[str]:
    """What deserves a look in this file; what comes from a suite's defaults is warned about there."""
    for key, sentence in (*_unknown(harbor, prefix), *_not_honoured(harbor)):
        whole = (*prefix, *key)
        if source.has(whole):
            yield f"{source.where(whole)}: {sentence}"


def _unknown(harbor: HarborTask, prefix: tuple[str, ...]) -> Iterator[tuple[KeyPath, str]]:
    for key in unknown_keys(harbor):
        yield (
            key,
            f"unknown key {dotted((*prefix, *key))}. {nearest(str(key[-1]), keys_at(HarborTask, key[:-1]))}",
        )
    if _version(harbor.schema_version) > _version(SCHEMA_VERSION):
        newer = (
            f"schema_version {harbor.schema_version} is newer than {SCHEMA_VERSION}, the newest known here"
        )
        yield ("schema_version",), newer


def _not_honoured(harbor: HarborTask) -> Iterator[tuple[KeyPath, str]]:
    for name, table in (
        ("environment", harbor.environment),
        ("agent", harbor.agent),
        ("verifier", harbor.verifier),
    ):
        if table.network_mode == "allowlist":
            yield (name, "network_mode"), "the network is not limited to allowed_hosts"
    tables: dict[KeyPath, Mapping[str, str]] = {
        ("environment",): harbor.environment.env,
        ("verifier",): harbor.verifier.env,
        ("solution",): harbor.solution.env,
        **{("steps", index, "verifier"): step.verifier.env for index, step in enumerate(harbor.steps)},
    }
    machine = harbor.verifier.environment
    if machine is not None:
        tables["verifier", "environment"] = machine.env
    for name, env in tables.items():
        for key, variable in wanted(env):
            reason = f"{key} is left out: it needs {variable} of the host, and no variable of the host enters"
            yield (*name, "env", key), reason


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]{1,9}", text))
