"""Which agents are compared with each other?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.errors import NotComparable, UsageError
from evalkit.tomlfile import nearest


@dataclass(frozen=True, slots=True)
class AgentMatch:
    """Pairs of agents, and who is left over."""

    pairs: tuple[tuple[str, str], ...]
    """Of run A, and of run B."""
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()


def match_agents(
    ours: Sequence[str],
    theirs: Sequence[str],
    *,
    wanted: Sequence[str] = (),
    mapped: Mapping[str, str] | None = None,
) -> AgentMatch:
    """Match the agents of run A (`ours`) with those of run B (`theirs`): by id, or as `mapped` says.

    One agent on each side matches whatever its id. Two `wanted` agents are compared with each other, the first of A
    with the second of B; of one, only it is compared. Raises UsageError for an id that is not there, NotComparable
    where nothing matches.
    """
    if len(wanted) > 2:
        raise UsageError("at most two agents are compared at a time", hint="Name two with --agent.")
    if len(wanted) == 2:
        return AgentMatch(((_known(wanted[0], ours, "A"), _known(wanted[1], theirs, "B")),))
    given = {_known(a, ours, "A"): _known(b, theirs, "B") for a, b in (mapped or {}).items()}
    pairs = dict(given)
    if not given and len(ours) == len(theirs) == 1:
        pairs = {ours[0]: theirs[0]}
    taken = set(pairs.values())
    pairs |= {agent: agent for agent in ours if agent not in pairs and agent in theirs and agent not in taken}
    if wanted:
        agent = _known(wanted[0], ours, "A")
        pairs = {agent: pairs[agent]} if agent in pairs else {}
        return AgentMatch(_some(pairs, ours, theirs))
    return AgentMatch(
        pairs=_some(pairs, ours, theirs),
        only_a=tuple(agent for agent in ours if agent not in pairs),
        only_b=tuple(agent for agent in theirs if agent not in pairs.values()),
    )


def _some(
    pairs: Mapping[str, str], ours: Sequence[str], theirs: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    if not pairs:
        raise NotComparable(
            f"no agent is in both: A has {_listed(ours)}; B has {_listed(theirs)}",
            hint="Say which belong together: --map A_ID=B_ID, or --agent A_ID --agent B_ID.",
        )
    return tuple(sorted(pairs.items()))


def _known(agent: str, agents: Sequence[str], run: str) -> str:
    """The id itself, or the only one that has it between slashes, as `recoverer` is in `react/scripted/recoverer`."""
    if agent in agents:
        return agent
    having = [other for other in agents if agent and f"/{agent}/" in f"/{other}/"]
    if len(having) == 1:
        return having[0]
    if having:
        raise UsageError(
            f"{agent!r} may be any of these agents of run {run}: {_listed(having)}", hint="Give the whole id."
        )
    raise UsageError(f"run {run} has no agent {agent!r}", hint=_hint(agent, agents))


def _hint(agent: str, agents: Sequence[str]) -> str:
    near = nearest(agent, agents)
    return (
        f"{near} It has {_listed(agents)}."
        if near.startswith("Did you mean")
        else f"It has {_listed(agents)}."
    )


def _listed(agents: Sequence[str]) -> str:
    return ", ".join(agents) if agents else "none"
