"""The line of an agent says the same as its scores."""

from __future__ import annotations

from evalkit.cli.agent_table import agent_rows
from evalkit.trajectory.trial import Trial


def trial(task: str, variant: str, status: str, epoch: int = 1) -> Trial:
    return Trial(
        run_id="r",
        trial_id=f"{task}.{variant}.{epoch}",
        suite="s",
        task_id=task,
        variant=variant,
        epoch=epoch,
        agent="a",
        status=status,  # type: ignore[arg-type]
    )


def test_pass_1_counts_a_task_once_however_many_faults_it_has():
    three = [trial("t", variant, "failed") for variant in ("f", "g", "h")]
    (row,) = agent_rows([*three, trial("u", "f", "passed"), trial("u", "f", "passed", 2)])
    assert (row.arm, row.pass_1) == ("faulted", 0.5)


def test_pass_1_of_nothing_scored_is_unknown():
    (row,) = agent_rows([trial("t", "clean", "unscored")])
    assert row.pass_1 is None
