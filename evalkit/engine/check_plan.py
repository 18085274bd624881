"""Which trials prove a suite?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from evalkit.engine.agent import make_agents
from evalkit.engine.exploit_proof import CHEATER
from evalkit.engine.finding import ORACLE_TIMES
from evalkit.engine.plan import Asked, Planned, PlannedTrial, make_plan
from evalkit.engine.prepare import Prepared
from evalkit.grading.exploit import Exploit, exploits_of
from evalkit.tasks.suite import Suite
from evalkit.tasks.task import Task

Exploits = Literal["all", "own", "none"]
"""Which attacks a suite is proven against: those of its tasks and all that fit any task, the first alone, or none."""


def check_plan(prepared: Prepared, task: str | None, exploits: Exploits = "none") -> tuple[Planned, ...]:
    """The trials that prove a suite: the oracle twice and nop once on every task; on every faulted variant the oracle
    and naive once each; on every impossible twin the oracle, naive and nop; and every attack, also on the twin where
    it is graded sealed.
    """
    agents = {agent.model.name: agent for agent in prepared.agents}
    oracle, nop, naive = (tuple(filter(None, [agents.get(name)])) for name in ("oracle", "nop", "naive"))
    asked = Asked(task=task, sandbox=prepared.sandbox, faults=prepared.faults, arms="clean", epochs=1)
    return (
        *make_plan(prepared.suites, oracle, replace(asked, epochs=ORACLE_TIMES)),
        *make_plan(prepared.suites, nop, asked),
        *make_plan(prepared.suites, (*oracle, *naive), replace(asked, arms="faulted")),
        *make_plan(prepared.suites, (*oracle, *naive, *nop), replace(asked, arms="twin")),
        *_attacks(prepared, asked, exploits),
    )


def _attacks(prepared: Prepared, asked: Asked, exploits: Exploits) -> Iterator[Planned]:
    """Each task is attacked by its own list."""
    chosen = {
        task.path: [exploit.name for exploit in chosen_exploits(task, exploits)]
        for suite in prepared.suites
        if isinstance(suite, Suite)
        for task in suite.tasks
    }
    names = dict.fromkeys(name for own in chosen.values() for name in own)
    settings = prepared.agents[0].tool_settings
    cheaters = make_agents([f"{CHEATER}{name}" for name in names], (), settings)
    for arm in ("clean", "twin"):
        for planned in make_plan(prepared.suites, cheaters, replace(asked, arms=arm)) if cheaters else ():
            weak = planned.is_twin and planned.task.grading_mode != "sealed"
            name = str(planned.agent.model).removeprefix(CHEATER)
            if isinstance(planned, PlannedTrial) and name in chosen[planned.task.path] and not weak:
                yield replace(planned, only_verdict=True)


def chosen_exploits(task: Task, exploits: Exploits) -> tuple[Exploit, ...]:
    """The attacks that a task is proven against."""
    if exploits == "none":
        return ()
    return tuple(exploit for exploit in exploits_of(task) if exploit.own or exploits == "all")
