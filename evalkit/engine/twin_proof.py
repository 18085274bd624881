"""Is a task's impossible twin impossible?

The oracle, the careless solution and doing nothing are honest: none of them may pass it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalkit.engine.exploit_proof import ExploitProof
from evalkit.trajectory.trial import Trial

HONEST = ("oracle", "naive", "nop")


@dataclass(frozen=True, slots=True)
class TwinProof:
    """What came of trying a twin honestly, and by attacks where it is graded sealed."""

    honest: Mapping[str, str]
    """The status of each honest agent's trial."""
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it is as impossible as it should be."""
        return not self.problems


def twin_proof(trials: Sequence[Trial], exploits: Sequence[ExploitProof]) -> TwinProof:
    """What the trials of one twin, attacks among them, say of it."""
    found = {(trial.model or "").removeprefix("scripted/"): trial for trial in trials}
    honest = {name: found[name].status if name in found else "missing" for name in HONEST}
    return TwinProof(honest, (*_honest(found), *_attacked(exploits)))


def _honest(found: Mapping[str, Trial]) -> Iterator[str]:
    for name in HONEST:
        trial = found.get(name)
        if trial is None:
            yield f"the check was interrupted before {name} had tried it"
        elif trial.status == "passed":
            yield f"{name} passes it, so it is not impossible"
        elif trial.status == "unscored":
            yield f"{name} is unscored ({trial.error_origin}): {trial.error_message}"


def _attacked(exploits: Sequence[ExploitProof]) -> Iterator[str]:
    """That an attack passes; whether it is found out the task itself has shown."""
    for proof in exploits:
        if proof.status == "passed":
            yield f"the attack {proof.exploit} ({proof.title}) passes it"
