"""What did a fault do at one call?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.engine.observation import Told
from evalkit.sandbox.protocol import ExecResult
from evalkit.tasks.faults import Fault
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import ErrorKind

TRUTH_BYTES = 4096
"""Kept of what a call really printed."""


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault at one call."""

    fault: Fault
    number: int
    """From 1."""
    visible: bool
    """Whether the model could see that anything was other than it is without the fault."""
    error_kind: ErrorKind | None = None
    canary: str | None = None
    true_stdout: str | None = None

    @property
    def detail(self) -> str:
        """What the record says of it."""
        fault = self.fault
        truth = None if self.true_stdout is None else cut_to(self.true_stdout, TRUTH_BYTES)
        return canonical_json(
            {
                "id": fault.id,
                "kind": fault.kind,
                "loud": fault.is_loud,
                "strike": self.number,
                "visible": self.visible,
                "canary": self.canary,
                "retry_after_s": fault.retry_after_s,
                "true_stdout": truth,
            }
        )


def cut_to(text: str, limit: int) -> str:
    """The first bytes of a text, as UTF-8, without half a character at the end."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a call: what is shown and recorded of it, and what the fault did."""

    result: ExecResult
    told: Told | None = None
    """What an error style with hints says of it, where it is no ordinary failure."""
    strike: Strike | None = None
