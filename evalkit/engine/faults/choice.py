"""Which faults are planned for which task?

Those of the task itself, and those of a plan file; or none.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from evalkit.errors import ConfigError, UsageError
from evalkit.tasks.faults import STRUCK_TOOLS, Fault
from evalkit.tasks.section import Section
from evalkit.tomlfile import TomlFile, nearest, read_toml

NONE = "none"
_HINT = "A fault plan is a TOML file of [[faults]] tables: --faults plan.toml, or --faults none."


class PlanFault(Fault):
    """A fault of a plan file."""

    tasks: str = Field(default="*", min_length=1)
    """A glob of the ids of the tasks that it is for."""


class _PlanFile(Section):
    faults: Annotated[tuple[PlanFault, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class FaultChoice:
    """The faults of a run."""

    own: bool = True
    """Whether tasks have the faults that they declare themselves."""
    further: tuple[PlanFault, ...] = ()
    source: TomlFile | None = None
    """Where the further ones stand."""

    def of(self, task_id: str, own: Sequence[Fault]) -> tuple[Fault, ...]:
        """A task's faults, its own first. Raises ConfigError where two have one id."""
        found = {fault.id: fault for fault in own} if self.own else {}
        for number, fault in enumerate(self.further):
            if not fnmatch.fnmatchcase(task_id, fault.tasks):
                continue
            if fault.id in found:
                raise self._error(
                    f"the task {task_id!r} already has a fault {fault.id!r}",
                    number,
                    "id",
                    "Each is a variant of its task, by its id; rename this one.",
                )
            found[fault.id] = _plain(fault)
        return tuple(found.values())

    def check_used(self, chosen: Sequence[str], all_ids: Sequence[str]) -> None:
        """Raise ConfigError for a fault of the plan that is for none of all the tasks, and for a plan none of whose
        faults is for a chosen one.
        """
        for number, fault in enumerate(self.further):
            if all_ids and not fnmatch.filter(all_ids, fault.tasks):
                raise self._error(
                    f"the fault {fault.id!r} is for {fault.tasks!r}, and no task is called so",
                    number,
                    "tasks",
                    nearest(fault.tasks, set(all_ids)).replace("Known here", "Tasks of this run's suites"),
                )
        if not self.further or any(fnmatch.filter(chosen, fault.tasks) for fault in self.further):
            return
        raise self._error(
            "none of the plan's faults is for any task of this run",
            0,
            "tasks",
            f"Tasks of this run: {', '.join(sorted(set(chosen)))}."
            if chosen
            else "Inspect's own tasks have no variants.",
        )

    def check_tools(self) -> None:
        """Raise ConfigError for a fault of the plan whose tool no agent has, where agents have only evalkit's tools."""
        for number, fault in enumerate(self.further):
            tool = fault.when.tool
            if tool is not None and tool not in STRUCK_TOOLS:
                raise self._error(
                    f"the fault {fault.id!r} strikes calls of {tool!r}, and no agent has a tool of that name",
                    number,
                    "when",
                    nearest(tool, STRUCK_TOOLS).replace("Known here", "Tools that faults strike"),
                )

    @contextmanager
    def blamed(self, fault: Fault) -> Generator[None]:
        """A ConfigError about a fault of the plan that is raised inside names the plan, not the task."""
        try:
            yield
        except ConfigError as error:
            number = next((n for n, one in enumerate(self.further) if _is_of(fault, one)), None)
            if number is None or self.source is None:
                raise
            where = self.source.where(("faults", number, "id"))
            raise ConfigError(error.message, where=where, hint=error.hint) from None

    def _error(self, message: str, number: int, key: str, hint: str) -> ConfigError:
        if self.source is None:
            return ConfigError(message, hint=hint)
        return self.source.error(f"faults[{number}].{key}: {message}", ("faults", number, key), hint)


def _plain(fault: PlanFault) -> Fault:
    """As a task would have it."""
    return Fault.model_validate(fault.model_dump(exclude={"tasks"}))


def _is_of(fault: Fault, planned: PlanFault) -> bool:
    return fault.id == planned.id and fault == _plain(planned)


def load_choice(asked: str | Path | None) -> FaultChoice:
    """What `--faults` asks for: a plan file's path, `none`, or None for the tasks' own.

    Raises UsageError where there is no such file, ConfigError with file and key for what is wrong in it.
    """
    if asked is None:
        return FaultChoice()
    if str(asked) == NONE:
        return FaultChoice(own=False)
    path = Path(asked)
    if not path.exists():
        raise UsageError("there is no such fault plan", where=str(path), hint=_HINT)
    source = read_toml(path, hint=_HINT)
    return FaultChoice(further=source.validate(_PlanFile, source.data).faults, source=source)
