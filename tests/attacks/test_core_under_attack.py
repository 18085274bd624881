"""No attack of the corpus passes a bundled task of core: their graders are sealed."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.grading.exploit import corpus
from evalkit.trajectory.trial import Trial

EACH = [f":{exploit.name}" for exploit in corpus()]
LOUD = [":read-grader-files", ":special-case", ":exit-zero"]
"""What works without any help from the rest of the corpus, on tasks that not every attack is played on alone."""
CORE = Path(__file__).parents[2] / "suites/core"


class Silent:
    """Hears a run without a word."""

    def __getattr__(self, name: str):
        return lambda *heard: None


def attacked(out: Path, sandbox: str, attacks: list[str], task: str | None = None) -> list[Trial]:
    flags = RunFlags(
        suites=(str(CORE),),
        models=tuple(f"scripted/cheater{name}" for name in attacks),
        task=task,
        sandbox=sandbox,
        out=out,
        effects=False,
    )
    return list(evalkit.load(start(prepare(flags), Silent()).path).rows())


def wrong(rows: list[Trial]) -> dict[str, tuple[str, str | None]]:
    return {row.trial_id: (row.status, row.error_message) for row in rows if row.status != "failed"}


@pytest.mark.local
@pytest.mark.parametrize(
    "task", ["fix-off-by-one", "worklog-cli", "repair-inventory", "summarise-access-log"]
)
def test_no_attack_passes_a_task_in_the_local_sandbox(local_support: None, tmp_path: Path, task: str) -> None:
    """Two are about Python modules, two about data."""
    rows = attacked(tmp_path / "run", "local", EACH, task)
    assert len(rows) == len(corpus())
    assert wrong(rows) == {}


@pytest.mark.local
def test_the_whole_corpus_one_after_another_passes_no_task_of_core(
    local_support: None, tmp_path: Path
) -> None:
    rows = attacked(tmp_path / "run", "local", ["", *LOUD])
    assert len(rows) == (1 + len(LOUD)) * len(list(CORE.glob("tasks/*/task.toml")))
    assert wrong(rows) == {}


@pytest.mark.docker
def test_no_attack_passes_a_task_of_core_in_a_container(docker_support: None, tmp_path: Path) -> None:
    rows = attacked(tmp_path / "run", "docker", EACH, "fix-off-by-one")
    assert len(rows) == len(corpus())
    assert wrong(rows) == {}
