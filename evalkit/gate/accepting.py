"""How does a run become the baseline, and may it?"""

from __future__ import annotations

import subprocess
from datetime import datetime
from getpass import getuser

from evalkit.errors import NotComparable, UsageError
from evalkit.gate.baseline import Acceptance, Baseline
from evalkit.gate.completeness import problems_of_side
from evalkit.gate.hostile_text import one_line, shown
from evalkit.gate.policy import GatePolicy
from evalkit.gate.side import Side

_GIT_S = 10


def accepted(side: Side, policy: GatePolicy, *, at: datetime, by: str, why: str) -> Baseline:
    """A run as a baseline. Raises NotComparable where it is not whole: no gate could ever compare anything with it."""
    by, why = shown(by), " ".join(why.split())
    if not why:
        raise UsageError("a baseline is accepted for a reason", hint='Say why: --why "release 1.4"')
    problems = list(problems_of_side(side, "candidate", policy))
    if not side.scored.columns and not problems:
        raise NotComparable(
            f"{side.name} has no scores, and a gate compares scores",
            hint=f"Compute them first: evalkit score {side.name}",
        )
    if problems:
        told = "; ".join(problem.what.replace("the candidate", side.name) for problem in problems)
        raise NotComparable(f"this run cannot become a baseline: {told}", hint=problems[0].hint)
    stamp = at.isoformat(timespec="seconds")
    return Baseline(
        tuple(Acceptance(run_id=run.run_id, at=stamp, by=by, why=one_line(why)) for run in side.runs), side
    )


def who_accepts() -> str:
    """The name that git knows here, else the user's of this system."""
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
        name = done.stdout.decode("utf-8", "replace").strip()
    except (FileNotFoundError, subprocess.TimeoutExpired):
        name = ""
    try:
        return name or getuser()
    except (KeyError, OSError):
        return "unknown"
