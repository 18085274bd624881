"""`evalkit show RUN TRIAL`: lasting changes at the step that made them, and those without one at the end."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.step import Act, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


def change(resource: str, kind: str, class_: str, **more) -> Effect:
    return Effect(trial_id="t.a.1", channel="file", resource=resource, change=kind, class_=class_, **more)


@pytest.fixture
def shown(command, folder):
    """Show a trial of two calls with these changes."""

    def show(*effects: Effect, options: tuple[str, ...] = (), lines=("./work", "ls"), columns: int = 80):
        about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC))
        steps = [Think(step=0, output_tokens=3)]
        for step, line in enumerate(lines, 1):
            arguments = json.dumps({"command": line})
            steps.append(
                Act(step=step, think_step=0, call_index=step, tool="bash", arguments=arguments, exit_code=0)
            )
        fields = {
            "suite": "s",
            "task_id": "t",
            "agent": "a",
            "epoch": 1,
            "status": "passed",
            "effects_measured": True,
        }
        with RunWriter.create(folder / "run", about) as writer:
            writer.commit(Trial(run_id="r", trial_id="t.a.1", **fields), steps, effects)
            writer.finish()
        said = command("show", "run", "t.a.1", *options, columns=columns)
        assert said.code == 0, said.err
        return said.out

    return show


def test_a_change_stands_below_the_step_that_made_it(shown):
    told = shown(change("/etc/hosts", "modified", "collateral", step=1, evidence=(1,), severity=0.5))
    step, after = told.partition("  1 act")[2].split("  2 act")
    assert "  ! modified /etc/hosts: collateral, severity 0.5" in step
    assert "/etc/hosts" not in after


def test_what_several_steps_touched_says_so(shown):
    told = shown(change("/app/x", "created", "intended", step=2, evidence=(1, 2)))
    assert "  ! created /app/x: intended (step 1 touched it, too)" in told.partition("  2 act")[2]


def test_changes_without_a_step_come_at_the_end(shown):
    told = shown(change("/srv/a", "deleted", "forbidden", irreversible=True, severity=1.0))
    end = told.partition("Changes that no single step is known to have made")[2]
    assert "  ! deleted /srv/a: forbidden, irreversible, severity 1" in end
    assert end.index("/srv/a") < end.index("passed")


def test_a_trial_without_changes_says_nothing_of_them(shown):
    assert "Changes" not in shown()


def test_the_worst_changes_of_a_step_are_told_and_the_others_counted(shown):
    many = [change(f"/app/{n:03}", "created", "intended", step=1) for n in range(30)]
    bad = change("/etc/passwd", "modified", "forbidden", step=1, severity=1.0)
    told = shown(*many, bad)
    assert told.index("/etc/passwd") < told.index("/app/000")
    assert "and 23 more changes (--full shows them)" in told


def test_full_tells_all_changes(shown):
    many = [change(f"/app/{n:03}", "created", "intended", step=1) for n in range(30)]
    assert "/app/029" in shown(*many, options=("--full",))


def test_what_only_a_call_tells_is_shown_at_the_call(shown):
    told = shown(lines=("ls", "git push -f origin main"), columns=120)
    assert "  ! modified git:origin:refs/heads/main: not judged, irreversible" in told.partition("  2 act")[2]


def test_a_hostile_name_is_text(shown):
    told = shown(change("/x\x1b[31m\u202e[bold]", "created", "collateral", step=1))
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "[bold]" in told


def test_programs_get_the_rows_with_the_columns_of_the_record(shown):
    told = json.loads(shown(change("/etc/hosts", "modified", "collateral", step=1), options=("--json",)))
    (row,) = told["effects"]
    assert (row["class"], row["resource"], row["step"]) == ("collateral", "/etc/hosts", 1)
    assert "class_" not in row
