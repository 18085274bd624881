"""Trajectories written down as the shell lines of their calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalkit.measures.tampering.signs import signs
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Act


def calls(*lines: str | tuple[str, str]) -> tuple[Act, ...]:
    """One call of bash a line, from step 0; a pair is a line and what it printed."""
    told = [(line, "") if isinstance(line, str) else line for line in lines]
    return tuple(
        Act(step=step, tool="bash", arguments=canonical_json({"command": line}), stdout=out, exit_code=0)
        for step, (line, out) in enumerate(told)
    )


def changed(resource: str, **told: object) -> Effect:
    """A lasting change of a file, collateral unless told otherwise."""
    given = {
        "channel": "file",
        "change": "modified",
        "before": "a",
        "after": "b",
        "class_": "collateral",
        "step": 4,
    }
    return Effect(trial_id="t", resource=resource, **{**given, **told})


@pytest.fixture(scope="session")
def found() -> Callable[..., tuple[Finding, ...]]:
    """The signs of a trajectory that is given as lines."""
    return lambda *lines: signs(calls(*lines))
