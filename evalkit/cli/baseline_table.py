"""How are baselines shown?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.cli.console import stdout
from evalkit.cli.prose import one_line
from evalkit.gate.baseline import Baseline


def baselines_as_json(found: Mapping[str, Baseline]) -> dict[str, Any]:
    """`{"baselines": [...]}`, by file."""
    return {"baselines": [{"file": file, **_facts(own)} for file, own in found.items()]}


def print_baselines(found: Mapping[str, Baseline]) -> None:
    """Print them as lines."""
    lines = [line for file, own in found.items() for line in _lines(file, own)]
    if not lines:
        lines = ["There is no baseline here. Accept a run: evalkit baseline accept RUN --why TEXT"]
    for line in lines:
        stdout().print(one_line(line), markup=False, highlight=False, soft_wrap=True)


def _lines(file: str, own: Baseline) -> Iterator[str]:
    facts = _facts(own)
    yield file
    for run in facts["runs"]:
        yield f"  {run['run_id']}, accepted {run['at']} by {run['by']}: {run['why']}"
    for agent in facts["agents"]:
        yield (
            f"  {agent['id']}: {agent['tasks']} tasks, {agent['passed']} of {agent['scored']} trials passed"
            + (f", {agent['unscored']} unscored" if agent["unscored"] else "")
        )


def _facts(own: Baseline) -> dict[str, Any]:
    trials = own.side.scored.trials
    statuses = Counter((trial.agent, trial.status) for trial in trials)
    return {
        "runs": [
            {"run_id": one.run_id, "created_at": run.created_at, "at": one.at, "by": one.by, "why": one.why}
            for run, one in zip(own.side.runs, own.accepted, strict=True)
        ],
        "suites": {name: digest for run in own.side.runs for name, digest in run.suites.items()},
        "agents": [
            {
                "id": agent,
                "tasks": len({trial.unit[:2] for trial in trials if trial.agent == agent}),
                "passed": statuses[agent, "passed"],
                "scored": statuses[agent, "passed"] + statuses[agent, "failed"],
                "unscored": statuses[agent, "unscored"],
            }
            for agent in own.side.agents
        ],
    }
