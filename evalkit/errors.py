"""Which ways can evalkit fail, and which exit code does each have?

    EvalkitError                 1   an unexpected crash would also exit 1
    ├── UsageError               2   what was asked cannot be done: not understood, or the disk is full
    │   └── ConfigError          2   a file says something invalid (names file and line)
    ├── CheckFailed              3   a check said no
    ├── Inconclusive             4   only under --strict
    ├── NotComparable            5   two things that must match do not
    ├── Incomplete               6   finished, but something is missing
    └── TrialError               6   one trial could not be scored; `origin` says whose fault it is
        ├── ModelError               origin "model"
        ├── SandboxError             origin "sandbox"
        │   ├── DeliverableRefused       what the agent left cannot leave as data
        │   └── DeliverableTooBig        origin "task": it would be too big again
        ├── GraderError              origin "grader"
        └── TaskError                origin "task"

Every message says what happened; `where` names the place; `hint` says what to do next.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Origin = Literal["model", "sandbox", "grader", "task", "harness"]


class EvalkitError(Exception):
    """Base of every error that evalkit raises on purpose.

    `message` says what happened, `where` the file, line or object concerned (or None),
    `hint` the next thing to try (or None).
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.message}" if self.where else self.message]
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)


class UsageError(EvalkitError):
    """What was asked for cannot be done as asked."""

    exit_code = 2


class ConfigError(UsageError):
    """A task, suite, project or policy file is invalid."""


class CheckFailed(EvalkitError):
    """A check ran to its end and said no."""

    exit_code = 3


class Inconclusive(EvalkitError):
    """The data cannot decide."""

    exit_code = 4


class NotComparable(EvalkitError):
    """Two things were to be compared that differ where they must not."""

    exit_code = 5


class Incomplete(EvalkitError):
    """The work finished, but some of it is missing."""

    exit_code = 6


class TrialError(EvalkitError):
    """One trial could not be run or judged; it becomes `unscored`, never failed."""

    exit_code = 6
    origin: ClassVar[Origin] = "harness"


class ModelError(TrialError):
    """The model endpoint could not be used."""

    origin = "model"


class SandboxError(TrialError):
    """The sandbox could not be started, used or read."""

    origin = "sandbox"


class DeliverableRefused(SandboxError):
    """What the agent left cannot leave the sandbox as data: a link that leads outside, a device, a pipe.

    That is the agent's doing, not the machine's: it counts as not delivered, and the trial is still judged.
    """


class DeliverableTooBig(SandboxError):
    """What the agent left is more than is taken out. Nobody's verdict, and nothing that another attempt changes."""

    origin = "task"


class GraderError(TrialError):
    """The grader gave no verdict that can be trusted."""

    origin = "grader"


class TaskError(TrialError):
    """The task itself is broken (its set-up fails, its solution is missing)."""

    origin = "task"
