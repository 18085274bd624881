"""What does a new project start with?"""

from __future__ import annotations

from pathlib import Path

from evalkit._content import ROOT
from evalkit.errors import UsageError
from evalkit.tasks.gate_scaffold import gate_policy
from evalkit.tasks.scaffold import new_suite

_PROJECT = """\
# Defaults of `evalkit run` in this project; every key of [run] is also a flag.
[run]
suites = ["{name}"]
models = ["scripted/oracle"]
epochs = 1
sandbox = "local"
# approvals = "approvals.toml"  # which tool calls may run

# What `evalkit gate RUN` compares with, once a run is accepted: evalkit baseline accept RUN --why TEXT
# In CI it is read from the branch that a change goes into: --baseline git:origin/main:baselines/{name}.json
[gate]
policy = "gate.toml"
baseline = "baselines/{name}.json"
"""

_SCORER = '''\
"""How often does an agent look before it changes anything?

Scores are computed from the record alone: `evalkit score RUN` does it again on any run, however old.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial


@dataclass(frozen=True)
class FirstLook(Scorer):
    """Calls that only read before the first call of any other kind; null in trials without calls."""

    version = "1"
    metrics = (
        Metric(
            name="first_look",
            meaning="reading calls before the first other call",
            unit="calls",
            low=0,
            null_when="no tool was called",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if not trial.actions:
            return
        reading: list[int] = []
        for action in trial.actions:
            if action.intent.operation != "read":
                break
            reading.append(action.step)
        reason = f"{len(reading)} of {len(trial.actions)} calls read before anything else was done"
        yield Score("first_look", len(reading), reason, evidence=tuple(reading))
'''


def refuse_bundled(name: str) -> None:
    """Raise UsageError for the name of a bundled suite: two different suites under one name help nobody."""
    if (ROOT / "suites" / name).exists():
        raise UsageError(f"'{name}' is a bundled suite", hint="Choose another name for yours.")


def new_project(folder: Path, suite: str) -> tuple[Path, ...]:
    """Write evalkit.toml, a gate policy, a first suite and a first scorer; returns what was made.

    Raises UsageError where a project is there already; nothing is overwritten.
    """
    project = folder / "evalkit.toml"
    if project.exists():
        raise UsageError(
            "there is a project here already", where=str(project), hint="Edit it, or choose another folder."
        )
    refuse_bundled(suite)
    made = new_suite(folder / "suites" / suite, suite)
    project.write_text(_PROJECT.format(name=suite), "utf-8")
    gate = folder / "gate.toml"
    if not gate.exists():
        tasks = sum(path.name == "task.toml" for path in made)
        gate.write_text(gate_policy(tasks), "utf-8")
        made = (gate, *made)
    scorer = folder / "scorers" / "first_look.py"
    if not scorer.exists():
        scorer.parent.mkdir(exist_ok=True)
        scorer.write_text(_SCORER, "utf-8")
        made = (*made, scorer)
    return (project, *made)
