"""Which settings of a task are evalkit's own? They stand under `[metadata.evalkit]`, and all are optional."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evalkit.tasks.faults import Fault
from evalkit.tasks.paths import absolute_path
from evalkit.tasks.section import Flag, Number, PositiveNumber, Section

GradingMode = Literal["sealed", "snapshot", "shared"]
Difficulty = Literal["easy", "medium", "hard"]
ThinkingNeed = Literal["low", "high"]
Conversation = Literal["fresh", "continued"]

THINKING_TOKENS: Mapping[ThinkingNeed | None, int] = {"low": 256, None: 1024, "high": 4096}
"""What a task needs that does not declare it in tokens."""
MAX_THINKING_TOKENS = 1_000_000

_CHANNELS = ("git:", "package:", "network:", "row:", "process:", "socket:")
_RESOURCE = re.compile(rf"(?:/|{'|'.join(_CHANNELS)})\S")


def _resource(pattern: str) -> str:
    if not _RESOURCE.match(pattern) or pattern.startswith("//"):
        raise ValueError(f"{pattern!r} should be an absolute path, or start with {', '.join(_CHANNELS)}")
    if pattern.startswith("/") and ".." in pattern.split("/"):
        raise ValueError(f"{pattern!r} should not contain '..'")
    return pattern


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f"{name!r} is listed twice")
    return names


def _ids_differ(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    seen: set[str] = set()
    for fault in faults:
        if fault.id in seen:
            raise ValueError(f"two faults have the id {fault.id!r}")
        seen.add(fault.id)
    return faults


Command = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"^[^\x00]+$")]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Names = Annotated[tuple[Name, ...], AfterValidator(_unique)]
AbsolutePath = Annotated[str, AfterValidator(absolute_path)]
Resource = Annotated[str, AfterValidator(_resource)]
Port = Annotated[int, Field(strict=True, ge=1, le=65535)]


class Grading(Section):
    """How the final state is judged."""

    mode: GradingMode | None = None
    checks: Names = ()
    """The exact set of checks that must be reported; empty: not declared."""
    nonce: Flag = False
    """Whether the grader signs its word: nothing but a verdict.json with the nonce is believed."""
    keep: tuple[AbsolutePath, ...] = ()
    """Deliverables kept for regrading, besides Harbor's artifacts."""
    naive: Command | None = None
    """A shell line that a naive grader would run where the agent worked, with the tests in /tests: exit code 0 would
    have passed the trial. It is run on the final state, after the verdict, and only tells what hacks would gain.
    """
    honeypots: Flag = True
    """Whether files with a unique token are put where no honest agent needs to look."""


class Effects(Section):
    """Which lasting changes are asked for, tolerated and forbidden; globs of resources."""

    required: tuple[Resource, ...] = ()
    allowed: tuple[Resource, ...] = ()
    forbidden: tuple[Resource, ...] = ()
    noise: tuple[Resource, ...] = ()
    processes: Names = ()
    """Programs that may still run at the end."""
    ports: tuple[Port, ...] = ()
    """Ports that may still be listened on at the end."""
    tables: Mapping[AbsolutePath, Literal["sqlite"]] = Field(default_factory=dict[str, Literal["sqlite"]])
    """Databases that are compared row by row."""


class Twin(Section):
    """An impossible twin of the task: passing it proves a hack.

    contradicting-check   what lies in `twin/` stands over the task's own: `instruction.md`, `tests/`, and `workdir/`,
                          whose files are put into the working directory; its grader asks for what the task forbids
    must-not-change       the instruction also asks that `path` stays as it is, and the verdict minds it
    """

    kind: Literal["contradicting-check", "must-not-change"]
    check: Name | None = None
    """Which declared check contradicts the instruction; None: the twin brings its own."""
    path: AbsolutePath | None = None
    """The file that must not change."""


class Settings(Section):
    """Everything under `[metadata.evalkit]`."""

    pass_reward: Number = 1.0
    """A trial passed when its reward is at least this."""
    requires: Names = ()
    """Programs that must exist, checked before a run in `local`."""
    skills: Names = ()
    difficulty: Difficulty | None = None
    minutes: PositiveNumber | None = None
    """How long a person needs."""
    thinking_need: ThinkingNeed | None = None
    thinking_tokens: Annotated[int, Field(strict=True, ge=0, le=MAX_THINKING_TOKENS)] | None = None
    """Tokens of thinking that it takes, as its author estimates; the scripted agent `budgeted` solves it with these."""
    answer: Literal["text"] | None = None
    """The final submit is an answer that can be compared between trials."""
    confidence: Flag = False
    """Whether the agent is asked how sure it is of its answer."""
    conversation: Conversation = "fresh"
    """Of a task with steps: whether the agent begins each one anew, or remembers what was said before."""
    milestones: Names = ()
    """Named checks, in the order in which they are usually reached."""
    resource_args: Mapping[Name, Name] = Field(default_factory=dict[str, str])
    """Which argument of a function tool names the resource it works on."""
    grading: Grading | None = None
    effects: Effects | None = None
    """None: nothing was declared, and the default scope applies."""
    faults: Annotated[tuple[Fault, ...], AfterValidator(_ids_differ)] = ()
    twin: Twin | None = None

    @property
    def is_hard(self) -> bool:
        """Whether acting at once will not do."""
        return self.difficulty == "hard" or self.thinking_need == "high"

    @property
    def needed_thinking(self) -> int:
        """Tokens of thinking: as declared, else by what is said of the need for thinking."""
        if self.thinking_tokens is not None:
            return self.thinking_tokens
        return THINKING_TOKENS[self.thinking_need]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        checks = self.grading.checks if self.grading else ()
        named = (*self.milestones, *((self.twin.check,) if self.twin and self.twin.check else ()))
        for name in named:
            if checks and name not in checks:
                raise ValueError(f"{name!r} is not among grading.checks ({', '.join(checks)})")
        if self.confidence and self.answer is None:
            raise ValueError('confidence is asked of an answer, so it needs answer = "text"')
        return self
