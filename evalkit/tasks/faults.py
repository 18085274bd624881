"""What is a planned fault: when does it strike, what does it do, and when does it end?"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evalkit.tasks.paths import absolute_path
from evalkit.tasks.pattern import checked
from evalkit.tasks.section import Count, Flag, Seconds, Section

FaultKind = Literal[
    "timeout",
    "error_500",
    "rate_limit",
    "permission",
    "partial",
    "stale",
    "empty",
    "schema_drift",
    "garbled",
    "wrong_value",
    "disk_full",
    "process_killed",
]
_ALWAYS_LOUD = frozenset({"timeout", "error_500", "rate_limit", "permission"})
_ALWAYS_SILENT = frozenset({"stale", "empty", "schema_drift", "wrong_value"})
_ONLY_FOR = {
    "fast": "timeout",
    "wait_s": "timeout",
    "retry_after_s": "rate_limit",
    "path": "disk_full",
    "process": "process_killed",
}
_VARIANT_NAMES = frozenset({"clean", "twin"})


def _variant(fault_id: str) -> str:
    if fault_id in _VARIANT_NAMES:
        raise ValueError(f"{fault_id!r} is the name of another variant of every task")
    return fault_id


class When(Section):
    """Which call a fault strikes: the `nth` call of `tool` (any, if None) whose arguments match."""

    tool: str | None = Field(default=None, min_length=1)
    matches: Annotated[str, AfterValidator(checked)] | None = None
    nth: Count = 1


class Fault(Section):
    """One planned fault; it becomes a variant of its task."""

    id: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100), AfterValidator(_variant)
    ]
    kind: FaultKind
    when: When = When()
    times: Count | None = None
    """How many matching calls it strikes; None: once, or until `until` holds."""
    until: str | None = Field(default=None, min_length=1)
    """A shell line; the fault ends when it exits 0."""
    loud: Flag | None = None
    """Whether the observation shows that something is wrong; None: as usual for the kind."""
    canary: str | None = Field(default=None, min_length=4)
    """The value by which a silent fault's spread is traced; None: one is made up."""
    fast: Flag = False
    """A timeout that is reported at once, without the wait."""
    wait_s: Seconds | None = None
    retry_after_s: Seconds | None = None
    path: Annotated[str, AfterValidator(absolute_path)] | None = None
    """The folder that is full."""
    process: str | None = Field(default=None, min_length=1)
    """The program that is killed."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.times is not None and self.until is not None:
            raise ValueError(f"fault {self.id!r} has both times and until; keep one")
        for name in ("until", "process", "canary"):
            if "\0" in (getattr(self, name) or ""):
                raise ValueError(f"fault {self.id!r}: {name} holds a zero byte")
        for name, kind in _ONLY_FOR.items():
            if getattr(self, name) and self.kind != kind:
                raise ValueError(f"fault {self.id!r}: {name} belongs to {kind}, not to {self.kind}")
        if self.kind == "disk_full" and self.path is None:
            raise ValueError(f"fault {self.id!r}: disk_full needs path, the folder that is full")
        if self.kind == "process_killed" and self.process is None:
            raise ValueError(f"fault {self.id!r}: process_killed needs process, the program to kill")
        if self.loud is False and self.kind in _ALWAYS_LOUD:
            raise ValueError(f"fault {self.id!r}: {self.kind} is always loud")
        if self.loud and self.kind in _ALWAYS_SILENT:
            raise ValueError(f"fault {self.id!r}: {self.kind} is always silent")
        return self

    @property
    def is_loud(self) -> bool:
        """Whether the observation shows that something is wrong."""
        return self.kind not in (*_ALWAYS_SILENT, "partial", "garbled") if self.loud is None else self.loud
