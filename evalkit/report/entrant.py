"""Who stands on a board?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.errors import NotComparable
from evalkit.scoring.agent_settings import settings_of
from evalkit.trajectory.reader import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One agent of one run."""

    name: str
    """Unique on the board: the agent's id, with the run where several runs have it."""
    agent: str
    run: str
    """As it was given."""
    settings: Mapping[str, str]
    command: str
    """What reproduces its trials."""


def entrants(runs: Sequence[tuple[str, Run]]) -> list[list[Entrant]]:
    """Of each run its agents, sorted. Raises NotComparable where runs are not of the same tasks."""
    _check_alike(runs)
    settings = [settings_of(run) for _, run in runs]
    count = {agent: sum(agent in own for own in settings) for found in settings for agent in found}
    return [
        [
            Entrant(
                name=agent if count[agent] == 1 else f"{agent} ({name})",
                agent=agent,
                run=name,
                settings=own[agent],
                command=_command(run, own[agent]),
            )
            for agent in sorted(own)
        ]
        for (name, run), own in zip(runs, settings, strict=True)
    ]


def _check_alike(runs: Sequence[tuple[str, Run]]) -> None:
    """Different suites share no table: what one agent found easy, another may never have been asked."""
    first_name, first = runs[0]
    known = {suite.name: suite.digest for suite in first.manifest.suites}
    for name, run in runs[1:]:
        own = {suite.name: suite.digest for suite in run.manifest.suites}
        if set(own) != set(known):
            raise NotComparable(
                f"{first_name} is of the suites {_listed(known)}, and {name} of {_listed(own)}",
                hint="Make a report of each: agents on different tasks have no place in one table.",
            )
        for suite, digest in own.items():
            if None not in (digest, known[suite]) and digest != known[suite]:
                raise NotComparable(
                    f"the suite {suite} of {name} is another version than that of {first_name}: "
                    f"{str(digest)[:12]}, not {str(known[suite])[:12]}",
                    hint="Run both on the same version of the suite, or make a report of each.",
                )


def _command(run: Run, settings: Mapping[str, str]) -> str:
    """As somebody would type it; what is at its default is left out."""
    suites = " ".join(suite.source or suite.name for suite in run.manifest.suites)
    words = [f"evalkit run {suites}", f"--model {settings['model']}"]
    if settings.get("thinking") not in (None, "-", "default"):
        words.append(f"--thinking {settings['thinking']}")
    if run.manifest.epochs is not None:
        words.append(f"--epochs {run.manifest.epochs}")
    if settings.get("sandbox") not in (None, "-"):
        words.append(f"--sandbox {settings['sandbox']}")
    return " ".join(words)


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names)) or "none"
