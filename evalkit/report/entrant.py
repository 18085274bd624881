"""Who stands on a board?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.errors import NotComparable
from evalkit.report.command import Command, command_of
from evalkit.report.shown_text import fact, name, unlike
from evalkit.scoring.agent_settings import settings_of
from evalkit.trajectory.reader import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One agent of one run."""

    name: str
    """Unique on the board, and safe to show: the agent's id, with the run where several runs have it."""
    agent: str
    run: str
    """As it was given, safe to show."""
    settings: Mapping[str, str]
    """Safe to show."""
    command: Command
    """What reproduces its trials."""


_MOST_OF_AN_ID = 200


def entrants(runs: Sequence[tuple[str, Run]]) -> list[list[Entrant]]:
    """Of each run its agents, sorted. Raises NotComparable where runs are not of the same tasks."""
    _check_alike(runs)
    settings = [settings_of(run) for _, run in runs]
    count = {agent: sum(agent in own for own in settings) for found in settings for agent in found}
    taken: set[str] = set()
    found: list[list[Entrant]] = []
    for (run_name, run), own in zip(runs, settings, strict=True):
        found.append([])
        for agent in sorted(own):
            told = agent if count[agent] == 1 else f"{agent[:_MOST_OF_AN_ID]} ({run_name})"
            unique = unlike(told, taken)
            taken.add(unique)
            found[-1].append(
                Entrant(
                    name=unique,
                    agent=agent,
                    run=name(run_name),
                    settings={key: fact(value) for key, value in own[agent].items()},
                    command=command_of(run.manifest, agent, own[agent]),
                )
            )
    return found


def _check_alike(runs: Sequence[tuple[str, Run]]) -> None:
    """Different suites share no table: what one agent found easy, another may never have been asked."""
    first_name, first = runs[0]
    known = {suite.name: suite.digest for suite in first.manifest.suites}
    for own_name, run in runs[1:]:
        own = {suite.name: suite.digest for suite in run.manifest.suites}
        if set(own) != set(known):
            raise NotComparable(
                f"{first_name} is of the suites {_listed(known)}, and {own_name} of {_listed(own)}",
                hint="Make a report of each: agents on different tasks have no place in one table.",
            )
        for suite, digest in own.items():
            if None not in (digest, known[suite]) and digest != known[suite]:
                raise NotComparable(
                    f"the suite {name(suite)} of {own_name} is another version than that of {first_name}: "
                    f"{str(digest)[:12]}, not {str(known[suite])[:12]}",
                    hint="Run both on the same version of the suite, or make a report of each.",
                )


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(map(name, names))) or "none"
