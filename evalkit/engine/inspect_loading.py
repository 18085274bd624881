# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
"""How does one of Inspect's own tasks become a suite?"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from inspect_ai import Task
from inspect_ai._eval.task.util import task_run_dir
from inspect_ai.dataset import Sample
from inspect_ai.util import SandboxEnvironmentSpec

from evalkit.engine.inspect_objects import Found, find
from evalkit.engine.inspect_place import place_of
from evalkit.engine.inspect_suite import PREFIX, InspectSuite, InspectTask
from evalkit.errors import UsageError
from evalkit.sandbox import SandboxKind
from evalkit.tasks.digest import lines_digest
from evalkit.tasks.suite import RunSettings
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.manifest import Json

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80


def load_inspect_suite(
    text: str, arguments: Mapping[str, Json], asked: SandboxKind | None = None
) -> InspectSuite:
    """Make the task that `inspect:FILE.py@task` or `inspect:package/task` names, and read its samples.

    `asked` is the kind of sandbox that the user insists on. Raises UsageError for whatever keeps it from running.
    """
    found = find(text.removeprefix(PREFIX), ("task",))
    task = found.make(arguments)
    if not isinstance(task, Task):
        raise UsageError(
            f"{found.name} makes no Inspect task but a {type(task).__name__}", where=found.source
        )
    _refuse(task, found)
    folder = task_run_dir(task) if found.file is None else str(found.file.parent)
    samples = list(task.dataset)
    digests = [sample_digest(sample, number) for number, sample in enumerate(samples, start=1)]
    ids = safe_ids(
        [str(n if sample.id in {None, ""} else sample.id) for n, sample in enumerate(samples, start=1)]
    )
    tasks = tuple(
        InspectTask(
            id=task_id,
            digest=digest,
            sample=sample.model_copy(update={"id": number}) if sample.id in {None, ""} else sample,
            place=place_of(_sandbox(task, sample), Path(folder), asked),
        )
        for number, (task_id, digest, sample) in enumerate(zip(ids, digests, samples, strict=True), start=1)
    )
    settings = {"name": found.name, "version": str(task.version), "arguments": dict(arguments)}
    own = ("task", hashlib.sha256(canonical_json(settings).encode()).hexdigest())
    return InspectSuite(
        name=found.name,
        version=str(task.version),
        digest=lines_digest([*((one.id, one.digest) for one in tasks), own]),
        source=PREFIX + found.source,
        tasks=tasks,
        task=task,
        folder=folder,
        code=Path(inspect.getfile(inspect.unwrap(found.factory))).absolute().parent,
        run=RunSettings(epochs=task.epochs),
        arguments=arguments,
    )


_NOT_RUN = ("sentinel", "review", "checkpoint", "early_stopping")
"""What a task can ask of Inspect that nothing here would do."""


def _refuse(task: Task, found: Found) -> None:
    """What makes a task that cannot be run here, or not judged."""
    if getattr(task, "sample_source", None) is not None:
        raise UsageError("its samples are made while it runs, which evalkit cannot pin", where=found.source)
    if len(task.dataset) == 0:
        raise UsageError("the Inspect task has no samples", where=found.source)
    for name in _NOT_RUN:
        if getattr(task, name, None) is not None:
            raise UsageError(
                f"the Inspect task asks for {name.replace('_', ' ')}, which evalkit does not do",
                where=found.source,
                hint="Leave it out of the task, or run it with Inspect.",
            )


def _sandbox(task: Task, sample: Sample) -> SandboxEnvironmentSpec | None:
    """As Inspect combines them: the task's kind with the sample's configuration, else whichever there is."""
    own, shared = sample.sandbox, task.sandbox
    if shared is None or own is None:
        return shared or own
    if own.type == shared.type and own.config is not None:
        return own
    return shared


def safe_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Ids that can stand in file names: what had to be changed ends in a part of its digest.

    Raises UsageError where two samples have the same id.
    """
    for position, original in enumerate(ids):
        if original in ids[:position]:
            raise UsageError(f"two samples of the Inspect task have the id {original!r}")
    return tuple(_safe_id(original) for original in ids)


def _safe_id(original: str) -> str:
    plain = _UNSAFE.sub("-", original).strip("-.")[:_LONGEST]
    if plain and plain == original:
        return plain
    mark = hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain or 'sample'}-{mark}"


def sample_digest(sample: Sample, number: int) -> str:
    """sha256 over everything that a sample says; ids that Inspect gives at random do not count."""
    data = sample.model_dump(mode="json", exclude_none=True, fallback=repr)
    if isinstance(sample.input, list):
        data["input"] = [
            {key: value for key, value in cast("dict[str, Any]", message).items() if key != "id"}
            for message in cast("list[Any]", data["input"])
        ]
    data.setdefault("id", number)
    text = canonical_json(data)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
