# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""How was an agent set up in a run?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.trajectory.reader import Run

_SETTINGS = (
    "agent_loop",
    "model",
    "model_served",
    "thinking",
    "thinking_taken",
    "thinking_sent",
    "tool_settings",
    "approvals",
    "temperature",
    "sandbox",
    "sandbox_runtime",
    "source",
)


@dataclass(frozen=True, slots=True)
class Change:
    """A setting in which two agents differ."""

    setting: str
    a: str
    b: str


def settings_of(run: Run) -> Mapping[str, Mapping[str, str]]:
    """By agent and setting, as its trials say; several values are separated by commas, unknown is `-`."""
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    rows = run.trials.to_table(["agent", "status", *_SETTINGS])
    agents: list[str] = rows.column("agent").to_pylist()
    unscored = [status == "unscored" for status in rows.column("status").to_pylist()]
    for setting in _SETTINGS:
        own = found_values(agents, rows.column(setting).to_pylist(), unscored)
        for agent, value in own:
            found[agent][setting].add("-" if value is None else str(value))
    return {agent: {name: ", ".join(sorted(own[name])) for name in _SETTINGS} for agent, own in found.items()}


def found_values(
    agents: Sequence[str], values: Sequence[object], unscored: Sequence[bool]
) -> set[tuple[str, object]]:
    """Each agent's values; unknown only where no trial tells one, or a scored one tells none.

    A trial that was cut off before it began knows nothing of its agent.
    """
    told = set(zip(agents, values, strict=True))
    lost = {
        (agent, value)
        for agent, value, cut in zip(agents, values, unscored, strict=True)
        if value is not None or not cut
    }
    known = {agent for agent, _ in lost}
    return lost | {(agent, value) for agent, value in told if agent not in known}


def changes(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Change, ...]:
    """What differs, in a fixed order."""
    told = ((name, a.get(name, "-"), b.get(name, "-")) for name in _SETTINGS)
    return tuple(Change(name, one, other) for name, one, other in told if one != other)
