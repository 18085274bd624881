"""What does each task cost at its cheapest, frozen so that scores can be compared?"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

from evalkit.errors import ConfigError, NotComparable, UsageError
from evalkit.measures.spending import Basis
from evalkit.scoring.frozen import Frozen
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.atomic import replacing
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.folder import open_file
from evalkit.trajectory.trial import Trial as TrialRow

VERSION = 1
FILE = "reference.json"
"""Its name in the folder of a run whose scores rest on it."""
_MOST_BYTES = 64 * 1024 * 1024
_AGAIN = "Build it again: evalkit reference build RUN --out FILE"
_TOKENS = frozenset({"output_tokens", "reasoning_tokens"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReference:
    """The reference cost L of one task."""

    digest: str | None = None
    """Of the task; None where the record does not tell."""
    cost: float | None
    """None where the task was solved, and nobody knows what any success cost."""
    calls: float | None = None
    """The median calls of the agent that sets it."""
    successes: int
    """Of that agent, with a known cost."""
    agents: int
    """How many solved the task."""
    provisional: bool
    agent: str | None
    """Which sets it; None where no cost is known."""


@dataclass(frozen=True)
class Reference:
    """The reference costs of all tasks of a cohort."""

    basis: Basis
    tasks: Mapping[str, TaskReference]
    """By `suite/task`."""
    excluded: tuple[str, ...] = ()
    """Tasks that were tried, and that nobody solved."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of these, as far as the record tells them."""
    models: tuple[str, ...] = ()
    """Of all agents of the cohort."""
    is_own: bool = False
    """It was made of the very run that is scored, and is kept nowhere."""

    @cached_property
    def digest(self) -> str:
        """sha256 of everything that scores rest on."""
        return hashlib.sha256(canonical_json(_content(self)).encode()).hexdigest()

    @property
    def mixed_tokenizers(self) -> bool:
        return self.basis in _TOKENS and len(self.models) > 1

    def of(self, row: TrialRow) -> TrialReference | None:
        """What a trial is measured against; None where its task, or this version of it, is not known."""
        name = f"{row.suite}/{row.task_id}"
        own = self.tasks.get(name)
        if own is None and name not in self._excluded:
            return None
        if _is_other(self.digest_of(name), row.task_digest):
            return None
        return TrialReference(
            basis=self.basis,
            cost=None if own is None else own.cost,
            is_unsolved=own is None,
            provisional=own is None or own.provisional,
            is_own=self.is_own,
            mixed_tokenizers=self.mixed_tokenizers,
            digest=self.digest,
        )

    def calls_of(self, row: TrialRow) -> float | None:
        """The median calls of whoever sets the task's reference."""
        own = self.tasks.get(f"{row.suite}/{row.task_id}")
        return None if own is None or self.of(row) is None else own.calls

    def digest_of(self, name: str) -> str | None:
        """Of a task, as far as it is known."""
        own = self.tasks.get(name)
        return self.versions.get(name) if own is None else own.digest

    @cached_property
    def _excluded(self) -> frozenset[str]:
        return frozenset(self.excluded)


def reference_text(reference: Reference) -> str:
    """The content of its file: one task a line, so that a change of it can be read."""
    content = _content(reference)
    tasks = cast("dict[str, object]", content["tasks"])
    lines = [f"{canonical_json(name)}:{canonical_json(own)}" for name, own in tasks.items()]
    body = "{" + ("\n" + ",\n".join(lines) + "\n" if lines else "") + "}"
    versions = f',\n"versions":{canonical_json(content["versions"])}' if reference.versions else ""
    return (
        f'{{"version":{VERSION},"basis":{canonical_json(reference.basis)},\n"digest":"{reference.digest}",\n'
        f'"models":{canonical_json(list(reference.models))},\n"tasks":{body},\n'
        f'"excluded":{canonical_json(content["excluded"])}{versions}}}\n'
    )


def write_reference(path: Path, reference: Reference) -> None:
    """Put it in place whole. Raises UsageError where the disk does not take it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            Path(temporary).write_text(reference_text(reference), "utf-8")
    except OSError as error:
        raise UsageError(
            f"the reference cannot be written: {error.strerror or error}",
            where=str(path),
            hint="Make room there, or choose another place; nothing was left half-written.",
        ) from error


def read_reference(path: Path) -> Reference:
    """What `write_reference` wrote. Raises ConfigError for anything else: another version, a number that is none, a
    digest that does not fit what is in it.
    """
    where = str(path)
    try:
        with open_file(path) as source:
            text = source.read(_MOST_BYTES)
    except OSError as error:
        raise ConfigError(
            f"no reference can be read here: {error.strerror}", where=where, hint=_AGAIN
        ) from error
    try:
        told: object = json.loads(text)
        fields = _object(told)
        if fields.get("version") != VERSION:
            raise ConfigError(
                f"a reference of version {fields.get('version')!r}, not {VERSION}", where=where, hint=_AGAIN
            )
        reference = _parsed(fields)
    except KeyError as error:
        raise ConfigError(
            f"this is no reference: it says no {error.args[0]}", where=where, hint=_AGAIN
        ) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise ConfigError(f"this is no reference: {error}", where=where, hint=_AGAIN) from None
    if fields.get("digest") != reference.digest:
        raise ConfigError(
            "its digest does not fit what is in it: somebody has changed it by hand", where=where, hint=_AGAIN
        )
    return reference


def merged(old: Reference, new: Reference) -> Reference:
    """Of each task the lower of the two costs, never higher than in either; of an unknown and a known one the known.

    Raises NotComparable where they count in different units, or a task is not the same in both.
    """
    if old.basis != new.basis:
        raise NotComparable(
            f"one reference counts {old.basis}, the other {new.basis}",
            hint=f"Build it with --basis {old.basis}.",
        )
    tasks = dict(old.tasks)
    for name in (*old.tasks, *old.excluded):
        if _is_other(old.digest_of(name), new.digest_of(name)):
            raise NotComparable(
                f"the task {name} is another one in the two references",
                hint="Build the reference anew from runs of the present tasks, without --merge.",
            )
    for name, own in new.tasks.items():
        before = tasks.get(name)
        tasks[name] = own if before is None else _lower(before, own)
    versions = {**new.versions, **old.versions}
    excluded = (set(old.excluded) | set(new.excluded)) - set(tasks)
    return Reference(
        basis=old.basis,
        tasks=_by_name(tasks),
        excluded=tuple(sorted(excluded)),
        versions={name: digest for name, digest in versions.items() if name in excluded},
        models=tuple(sorted({*old.models, *new.models})),
    )


def _is_other(one: str | None, other: str | None) -> bool:
    """Whether two versions of a task are known to be different ones."""
    return bool(one and other and one != other)


def _lower(one: TaskReference, other: TaskReference) -> TaskReference:
    best = min(one, other, key=lambda own: (math.inf if own.cost is None else own.cost, own.provisional))
    return dataclasses.replace(best, digest=one.digest or other.digest, agents=max(one.agents, other.agents))


def _by_name(tasks: Mapping[str, TaskReference]) -> Mapping[str, TaskReference]:
    return Frozen({name: tasks[name] for name in sorted(tasks)})


def _content(reference: Reference) -> dict[str, object]:
    return {
        "version": VERSION,
        "basis": reference.basis,
        "models": list(reference.models),
        "tasks": {name: _told(own) for name, own in _by_name(reference.tasks).items()},
        "excluded": sorted(reference.excluded),
        **({"versions": dict(sorted(reference.versions.items()))} if reference.versions else {}),
    }


def _told(own: TaskReference) -> dict[str, object]:
    fields = dataclasses.asdict(own)
    agent = fields.pop("agent")
    return {**fields, "from": agent}


def _parsed(fields: Mapping[str, Any]) -> Reference:
    basis = fields["basis"]
    if basis not in get_args(Basis):
        raise ValueError(f"basis is one of {', '.join(get_args(Basis))}, not {basis!r}")
    versions = _object(fields.get("versions", {}))
    tasks = {name: _task(name, _object(own)) for name, own in _object(fields["tasks"]).items()}
    return Reference(
        basis=basis,
        tasks=_by_name(tasks),
        excluded=_texts(fields["excluded"]),
        versions=Frozen(dict(zip(versions, _texts(list(versions.values())), strict=True))),
        models=_texts(fields.get("models", [])),
    )


def _task(name: str, told: Mapping[str, Any]) -> TaskReference:
    cost, calls, digest, agent = told["cost"], told["calls"], told["digest"], told["from"]
    fits = (
        (cost is None or _is_amount(cost))
        and (calls is None or _is_amount(calls))
        and (digest is None or isinstance(digest, str))
        and all(type(told[count]) is int and told[count] >= 0 for count in ("successes", "agents"))
        and type(told["provisional"]) is bool
        and (isinstance(agent, str) if cost is not None else agent is None)
    )
    if not fits:
        raise ValueError(f"what it says of {name} is no reference cost")
    return TaskReference(
        digest=digest,
        cost=cost,
        calls=calls,
        successes=told["successes"],
        agents=told["agents"],
        provisional=told["provisional"],
        agent=agent,
    )


def _is_amount(value: object) -> bool:
    return type(value) in {int, float} and 0 <= cast("float", value) < 1e18


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(one, str) for one in cast("Iterable[object]", value)
    ):
        raise ValueError("a list of names is none")
    return tuple(cast("list[str]", value))


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is no JSON object")
    return cast("dict[str, Any]", value)
