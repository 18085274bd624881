"""Which command leads to a verdict again?"""

from __future__ import annotations

import shlex

from evalkit.gate.verdict import Verdict


def rerun(verdict: Verdict, *, strict: bool) -> str:
    """The command that leads to this verdict."""
    words = ["evalkit", "gate", verdict.candidate.name, "--baseline", verdict.baseline.name]
    if verdict.policy.source is not None:
        words += ["--policy", verdict.policy.source]
    if len(verdict.agents) > 1:
        for own in verdict.agents:
            words += ["--map", f"{own.candidate}={own.baseline}"] if own.candidate != own.baseline else []
    return shlex.join([*words, *(["--strict"] if strict else [])])
