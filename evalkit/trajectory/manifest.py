"""What was asked of a run, and what did it run on?"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, cast

from evalkit.errors import ConfigError
from evalkit.trajectory.bounds import check_aware
from evalkit.trajectory.redaction import redact
from evalkit.trajectory.schema import SCHEMA_VERSION, refuse_newer

_REPAIR = "Restore the file from a copy, or run again: without it the run's trials cannot be read."
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEntry:
    """A suite of the run, pinned by its digest."""

    name: str
    digest: str | None = None
    version: str | None = None
    source: str | None = None
    """As it was named when the run was started, so that it can be found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent of the run."""

    id: str
    digest: str | None = None
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Loop, model, thinking budget, tool settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """One trial that is to be made. Its attempts replace one another."""

    suite: str
    task_id: str
    variant: str = "clean"
    epoch: int
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunManifest:
    """The content of run.json. Raises ValueError where `created_at` has no time zone."""

    run_id: str
    created_at: datetime
    suites: tuple[SuiteEntry, ...] = ()
    agents: tuple[AgentEntry, ...] = ()
    epochs: int | None = None
    limits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    tasks: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """By `suite/task`, what tasks declare that scores need: answer, milestones, resource_args."""
    faults: tuple[Mapping[str, Json], ...] = ()
    """Fault plans."""
    policy: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Approvals and tool settings."""
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Everything else that resuming needs, such as the sandbox."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of evalkit, python, and the libraries that a result can depend on."""
    host_class: str | None = None
    git_commit: str | None = None
    """Of the repository from which the run was started."""
    seed: int | None = None
    planned: tuple[PlannedRow, ...] = ()

    def __post_init__(self) -> None:
        check_aware(self, ("created_at",))

    def to_json(self) -> str:
        """As text for run.json; secrets are redacted."""
        fields = {"schema_version": SCHEMA_VERSION, **_plain(self)}
        return redact(json.dumps(fields, indent=1, allow_nan=False)) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "run.json") -> RunManifest:
        """Read what `to_json` wrote. Raises ConfigError, placed at `where`, for anything else."""
        try:
            fields: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"not JSON: {error}", where=where, hint=_REPAIR) from error
        if not isinstance(fields, dict):
            raise ConfigError("not the description of a run: no JSON object", where=where, hint=_REPAIR)
        values = cast("dict[str, Any]", fields)
        version = values.get("schema_version")
        if not isinstance(version, int):
            raise ConfigError(
                "not the description of a run: it says no schema_version", where=where, hint=_REPAIR
            )
        refuse_newer(version, where)
        try:
            return _manifest(values)
        except KeyError as error:
            raise ConfigError(f"{error.args[0]} is missing", where=where, hint=_REPAIR) from error
        except (TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"not the description of a run: {error}", where=where, hint=_REPAIR) from error


def _manifest(values: Mapping[str, Any]) -> RunManifest:
    known = {item.name for item in dataclasses.fields(RunManifest)}
    given = {name: value for name, value in values.items() if name in known}
    given["run_id"] = _text(values, "run_id")
    given["created_at"] = datetime.fromisoformat(_text(values, "created_at"))
    given["suites"] = tuple(_entry(SuiteEntry, item, "name") for item in values.get("suites", ()))
    given["agents"] = tuple(_entry(AgentEntry, item, "id") for item in values.get("agents", ()))
    given["planned"] = tuple(
        _entry(PlannedRow, item, "suite", "task_id", "agent") for item in values.get("planned", ())
    )
    given["faults"] = tuple(_mapping(item, "faults") for item in values.get("faults", ()))
    for name in ("limits", "tasks", "policy", "settings", "versions"):
        given[name] = _mapping(values.get(name, {}), name)
    for name, kind in (("epochs", int), ("seed", int), ("host_class", str), ("git_commit", str)):
        if not isinstance(values.get(name), kind | None):
            raise ValueError(  # noqa: TRY004 - it is about a file's content
                f"{name} must be {kind.__name__} or null, not {values[name]!r}"
            )
    return RunManifest(**given)


def _entry(record: type[Any], item: object, *required: str) -> Any:
    """An entry out of its fields; those that a later version of this schema added are left out."""
    fields = _mapping(item, record.__name__)
    for name in required:
        _text(fields, name)
    known = {part.name for part in dataclasses.fields(record)}
    return record(**{name: value for name, value in fields.items() if name in known})


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a text, not {value!r}")
    return value


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object, not {value!r}")  # noqa: TRY004 - it is about a file's content
    return cast("dict[str, Any]", value)


def _plain(record: Any) -> dict[str, Any]:
    return {part.name: _plain_value(getattr(record, part.name)) for part in dataclasses.fields(record)}


def _plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in cast("Sequence[Any]", value)]
    return _plain(value) if dataclasses.is_dataclass(value) else value
