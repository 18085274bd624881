"""What is a planned fault: when does it strike, what does it do, and when does it end?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
_ALWAYS_SILENT = frozenset({"stale", "empty", "schema_drift", "wrong_value"})
_MAY_BE_EITHER = frozenset({"partial", "garbled"})
_ONLY_FOR: Mapping[str, frozenset[FaultKind]] = {
    "fast": frozenset({"timeout"}),
    "wait_s": frozenset({"timeout"}),
    "retry_after_s": frozenset({"rate_limit"}),
    "path": frozenset({"disk_full"}),
    "process": frozenset({"process_killed"}),
    "canary": frozenset({"wrong_value", "schema_drift", "garbled"}),
}
STRUCK_TOOLS = ("bash", "python")
"""Tools of evalkit's own that faults strike."""
ENDING_TOOLS = ("submit", "report_impossible")
"""They end the trial, and are never struck."""
_VARIANT_NAMES = frozenset({"clean", "twin"})


def _variant(fault_id: str) -> str:
    if fault_id in _VARIANT_NAMES:
        raise ValueError(f"{fault_id!r} is the name of another variant of every task")
    return fault_id


def _struck(tool: str) -> str:
    if tool in ENDING_TOOLS:
        raise ValueError(f"{tool} ends the trial and is never struck")
    return tool


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a canary is one line of printable characters")
    return text


class When(Section):
    """Which call a fault strikes: the `nth` call of `tool` (any, if None) whose arguments match."""

    tool: Annotated[str, Field(min_length=1), AfterValidator(_struck)] | None = None
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
    canary: Annotated[str, Field(min_length=4), AfterValidator(_one_line)] | None = None
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
        for name in ("until", "process"):
            if "\0" in (getattr(self, name) or ""):
                raise ValueError(f"fault {self.id!r}: {name} holds a zero byte")
        for name, kinds in _ONLY_FOR.items():
            if self._is_given(name) and self.kind not in kinds:
                raise ValueError(f"fault {self.id!r}: {name} belongs to {_either(kinds)}, not to {self.kind}")
        if self.fast and self.wait_s is not None:
            raise ValueError(f"fault {self.id!r} has both fast and wait_s; keep one")
        if self.kind == "disk_full" and self.path is None:
            raise ValueError(f"fault {self.id!r}: disk_full needs path, the folder that is full")
        if self.kind == "process_killed" and self.process is None:
            raise ValueError(f"fault {self.id!r}: process_killed needs process, the program to kill")
        if (
            self.loud is not None
            and self.kind not in _MAY_BE_EITHER
            and self.loud is not self._is_usually_loud
        ):
            how = "loud" if self._is_usually_loud else "silent"
            raise ValueError(f"fault {self.id!r}: {self.kind} is always {how}")
        return self

    @property
    def is_loud(self) -> bool:
        """Whether the observation shows that something is wrong."""
        return self._is_usually_loud if self.loud is None else self.loud

    @property
    def _is_usually_loud(self) -> bool:
        return self.kind not in _ALWAYS_SILENT | _MAY_BE_EITHER

    def _is_given(self, name: str) -> bool:
        """`false` is as good as nothing; 0 is not."""
        value: object = getattr(self, name)
        return value is not None and value is not False


def _either(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds))
