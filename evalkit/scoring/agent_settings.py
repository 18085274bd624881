# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""How was an agent set up in a run?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.trajectory.reader import Run

_SETTINGS = (
    "agent_loop",
    "model",
    "model_served",
    "thinking",
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
    rows = run.trials.to_table(["agent", *_SETTINGS])
    agents: list[str] = rows.column("agent").to_pylist()
    for setting in _SETTINGS:
        for agent, value in set(zip(agents, rows.column(setting).to_pylist(), strict=True)):
            found[agent][setting].add("-" if value is None else str(value))
    return {agent: {name: ", ".join(sorted(own[name])) for name in _SETTINGS} for agent, own in found.items()}


def changes(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Change, ...]:
    """What differs, in a fixed order."""
    return tuple(Change(name, a[name], b[name]) for name in _SETTINGS if a[name] != b[name])
