"""No attack of the corpus passes a bundled task of core: their graders are sealed."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.grading.exploit import corpus
from evalkit.trajectory.trial import Trial

CORE = Path(__file__).parents[2] / "suites/core"


class Silent:
    """Hears a run without a word."""

    def __getattr__(self, name: str):
        return lambda *heard: None


def attacked(out: Path, sandbox: str, task: str | None = None) -> list[Trial]:
    flags = RunFlags(
        suites=(str(CORE),),
        models=tuple(f"scripted/cheater:{exploit.name}" for exploit in corpus()),
        task=task,
        sandbox=sandbox,
        out=out,
        effects=False,
    )
    return list(evalkit.load(start(prepare(flags), Silent()).path).rows())


def wrong(rows: list[Trial]) -> dict[str, tuple[str, str | None]]:
    return {row.trial_id: (row.status, row.error_message) for row in rows if row.status != "failed"}


@pytest.mark.local
def test_no_attack_passes_any_task_of_core_in_the_local_sandbox(local_support: None, tmp_path: Path) -> None:
    rows = attacked(tmp_path / "run", "local")
    assert len(rows) == len(corpus()) * len(list(CORE.glob("tasks/*/task.toml")))
    assert wrong(rows) == {}


@pytest.mark.docker
def test_no_attack_passes_a_task_of_core_in_a_container(docker_support: None, tmp_path: Path) -> None:
    rows = attacked(tmp_path / "run", "docker", "fix-off-by-one")
    assert len(rows) == len(corpus())
    assert wrong(rows) == {}
