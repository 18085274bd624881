"""A run that loses its engine, or a container, says so in its rows and is completed by resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import resume, start
from evalkit.sandbox.docker.container import OWNER, TRIAL, owner_of
from evalkit.sandbox.docker.engine import Engine
from evalkit.trajectory.owner import this_process
from evalkit.trajectory.step import Act
from evalkit.trajectory.trial import Trial

pytestmark = [pytest.mark.docker, pytest.mark.filterwarnings("ignore:unclosed <socket")]

CORE = Path(__file__).parents[2] / "suites/core"


class At:
    """Does something at the first tool call of the run."""

    def __init__(self, do: Callable[[], None]) -> None:
        self.do: Callable[[], None] | None = do

    def planned(self, total: int) -> None:
        pass

    def started(self, planned: object) -> None:
        pass

    def stepped(self, planned: object, step: object) -> None:
        if isinstance(step, Act) and self.do is not None:
            do, self.do = self.do, None
            do()

    def finished(self, planned: object, trial: Trial) -> None:
        pass


def two_tasks(out: Path) -> RunFlags:
    return RunFlags(suites=(str(CORE),), sandbox="docker", task="[fr]*-[oi]*", limit=2, max_trials=1, out=out)


def outcomes(path: Path) -> list[tuple[str, str | None, int]]:
    return [(row.status, row.error_origin, row.attempt) for row in evalkit.load(path).rows()]


def test_a_run_that_loses_its_engine_ends_unscored_and_is_completed_by_resume(
    proxy, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    start(prepare(two_tasks(out)), At(proxy.close))
    assert outcomes(out) == [("unscored", "sandbox", 1)] * 2
    messages = [row.error_message or "" for row in evalkit.load(out).rows()]
    assert all("engine" in message for message in messages), messages
    (begun, _) = evalkit.load(out).iter_trials()
    assert sum(isinstance(step, Act) for step in begun[1]) >= 1

    monkeypatch.setenv("DOCKER_HOST", f"unix://{proxy.target}")
    resume(out, At(lambda: None))
    assert outcomes(out) == [("passed", None, 2)] * 2


def test_a_container_that_is_killed_from_outside_costs_its_own_trial(engine: Engine, tmp_path) -> None:
    out = tmp_path / "run"
    flags = two_tasks(out)
    (first, *_) = prepare(flags).plan

    def kill() -> None:
        for one in engine.owned(TRIAL):
            owner = owner_of(one.labels[OWNER])
            if owner == this_process() and one.labels[TRIAL].startswith(f"{first.task.id}."):
                engine.remove(one.id)

    start(prepare(flags), At(kill))
    assert sorted(outcomes(out)) == [("passed", None, 1), ("unscored", "sandbox", 1)]
