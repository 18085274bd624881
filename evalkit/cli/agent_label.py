"""What stands above an agent's column?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.cells import cell_len

from evalkit.cli.prose import one_line

LINE = 20
"""Ids are broken, where their parts end, into lines about as long as a column of numbers is wide."""
LONGEST_LINE = 28
MOST_LINES = 4
_KEPT = 10


def agent_labels(agents: Sequence[str]) -> dict[str, str]:
    """For each agent its id in a few short lines; a long one is shortened in the middle, and unlike the others."""
    labels: dict[str, str] = {}
    for agent in agents:
        label = _broken(one_line(agent))
        lines = label.splitlines()
        if len(lines) > MOST_LINES or max(map(cell_len, lines), default=0) > LONGEST_LINE:
            label = _shortened(one_line(agent), set(labels.values()))
        labels[agent] = label
    return labels


def is_whole(agent: str, label: str) -> bool:
    """Whether the label still says all of the agent's id."""
    return label.replace("\n", "") == one_line(agent)


def common_beginning(agents: Sequence[str]) -> str:
    """What all of several ids begin with, in whole parts; empty where that is nothing, or where there is one agent.

    Something of each id is left after it.
    """
    if len(agents) < 2:
        return ""
    shared: list[str] = []
    for parts in zip(*(_parts(agent)[:-1] for agent in agents), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "".join(shared)


def _parts(agent: str) -> list[str]:
    return agent.replace("/", "/\0").replace("@", "\0@").split("\0")


def _broken(agent: str) -> str:
    lines = [""]
    for part in _parts(agent):
        if lines[-1] and cell_len(lines[-1]) + cell_len(part) > LINE:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _shortened(agent: str, taken: Collection[str]) -> str:
    unlike = label = f"{agent[:_KEPT]}…{agent[-_KEPT:]}"
    number = 2
    while unlike in taken:
        unlike, number = f"{label} ({number})", number + 1
    return unlike
