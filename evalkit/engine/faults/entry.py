"""How do a run's faults stand in its run.json, and how are they read back?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pydantic import ValidationError

from evalkit.engine.faults.canary import word
from evalkit.engine.plan import Planned
from evalkit.errors import ConfigError
from evalkit.tasks.faults import Fault
from evalkit.trajectory.manifest import Json, RunManifest

_MARKED = frozenset({"schema_drift", "garbled"})
"""Kinds whose made-up canary is a word, whatever they strike."""
_NOT_OF_THE_FAULT = frozenset({"suite", "task"})


def fault_entries(plan: Iterable[Planned]) -> tuple[Mapping[str, Json], ...]:
    """Each planned fault of each task once, with everything that it leaves open filled in."""
    found: dict[tuple[str, str, str], Mapping[str, Json]] = {}
    for planned in plan:
        fault = planned.fault
        if fault is None:
            continue
        fields = cast("dict[str, Json]", fault.model_dump(mode="json"))
        fields |= {"loud": fault.is_loud, "canary": fault.canary}
        if fault.canary is None and fault.kind in _MARKED:
            fields["canary"] = word(planned.task.id, fault.id)
        entry = {"suite": planned.suite.name, "task": planned.task.id, **fields}
        found.setdefault((planned.suite.name, planned.task.id, fault.id), entry)
    return tuple(found.values())


def planned_faults(manifest: RunManifest) -> dict[tuple[str, str, str], Fault]:
    """The faults of a run by suite, task and variant. Raises ConfigError for an entry that is none."""
    found: dict[tuple[str, str, str], Fault] = {}
    for number, entry in enumerate(manifest.faults):
        fields = {name: value for name, value in entry.items() if name not in _NOT_OF_THE_FAULT}
        try:
            fault = Fault.model_validate(fields)
        except ValidationError as error:
            said = error.errors(include_url=False)[0]["msg"]
            raise ConfigError(f"faults[{number}] is not a fault: {said}", where="run.json") from None
        found[str(entry.get("suite")), str(entry.get("task")), fault.id] = fault
    return found
