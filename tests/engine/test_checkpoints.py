"""States of the work are copied while an agent works, graded after its end, and change nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.checkpoint_grading import graded
from evalkit.engine.checkpoint_plan import CheckpointPlan, spread
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.regrading import regrade
from evalkit.engine.start import resume
from evalkit.errors import UsageError
from evalkit.trajectory.checkpoint_events import checkpointed_tasks
from evalkit.trajectory.step import Act, Event

from .conftest import TOML, Quiet

SLOWLY = """\
#!/bin/sh
# step: I begin.
echo not yet > out
# step: I look.
cat out
# step: I write it.
echo done > out
# step: I spoil it.
echo spoilt > out
# step: I write it again.
echo done > out
"""
SLOW = {"solution/solve.sh": SLOWLY}


def states(steps):
    found = [step for step in steps if isinstance(step, Event) and step.event == "checkpoint"]
    return [json.loads(step.detail) for step in found]


def told(run, number=0):
    trial, steps = run.trial(run.rows()[number].trial_id)
    acts = [step.step for step in steps if isinstance(step, Act)]
    return trial, [(acts.index(one["of_step"]), one["passed"]) for one in states(steps)]


def test_each_call_that_changed_the_workspace_has_a_graded_state(make_suite, run_any):
    run = run_any(make_suite(one=SLOW), checkpoints=True)
    trial, found = told(run)
    assert trial.status == "passed"
    assert found == [(0, False), (2, True), (3, False), (4, True)]


def test_states_are_recorded_after_the_last_step_of_the_agent(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), checkpoints=True)
    _, steps = run.trial(run.rows()[0].trial_id)
    last = max(step.step for step in steps if not isinstance(step, Event))
    (first, *_) = states(steps)
    assert all(step.step > last for step in steps if isinstance(step, Event) and step.event == "checkpoint")
    assert first.keys() == {"of_step", "deliverables", "reward", "passed", "checks"}


def test_without_being_asked_for_there_are_none(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW))
    assert told(run)[1] == []
    assert run.manifest.settings["checkpoints"] is None


def test_a_stride_leaves_states_out_but_never_the_last(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), checkpoints=True, checkpoint_stride=3)
    assert told(run)[1] == [(3, False), (4, True)]


def test_a_budget_bounds_how_many_are_graded_and_the_others_are_stored(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), checkpoints=True, checkpoint_budget=1)
    assert told(run)[1] == [(0, None), (2, True), (3, None), (4, True)]


def test_a_budget_of_zero_only_stores(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), checkpoints=True, checkpoint_budget=0)
    assert told(run)[1] == [(0, None), (2, None), (3, None), (4, None)]


@pytest.mark.parametrize(
    ("most", "chosen"), [(9, "abcde"), (5, "abcde"), (3, "ace"), (2, "ae"), (1, "e"), (0, "")]
)
def test_states_that_are_graded_lie_evenly_from_the_first_to_the_last(most, chosen):
    assert "".join(spread("abcde", most)) == chosen


ONLY_STORED = {"checkpoints": True, "checkpoint_budget": 0}


def graded_later(run, **options):
    result = regrade(Path(run.path), heard=lambda done, total: None, checkpoints=True, **options)
    return result, evalkit.load(run.path)


def test_stored_states_are_graded_later(make_suite, run_suite):
    result, run = graded_later(run_suite(make_suite(one=SLOW), **ONLY_STORED))
    trial, found = told(run)
    assert found == [(0, False), (2, True), (3, False), (4, True)]
    assert (trial.attempt, trial.status, result.trials[0].states) == (2, "passed", 4)


def test_what_has_a_verdict_is_not_graded_once_more(make_suite, run_suite):
    result, run = graded_later(run_suite(make_suite(one=SLOW), checkpoints=True))
    assert (result.trials, result.settled, run.rows()[0].attempt) == ([], 1, 1)
    assert told(run)[1] == [(0, False), (2, True), (3, False), (4, True)]


def test_another_grader_judges_all_states_anew(make_suite, run_suite):
    suite = make_suite(one=SLOW)
    run = run_suite(suite, checkpoints=True)
    (suite / "one/tests/test.sh").write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    assert told(graded_later(run)[1])[1] == [(0, True), (2, True), (3, True), (4, True)]


def test_graded_again_by_another_grader_states_lose_the_old_ones_word(make_suite, run_suite):
    suite = make_suite(one=SLOW)
    run = run_suite(suite, checkpoints=True)
    (suite / "one/tests/test.sh").write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    regrade(Path(run.path), heard=lambda done, total: None)
    assert {passed for _, passed in told(evalkit.load(run.path))[1]} == {None}


def test_only_trials_with_states_take_part(make_suite, run_suite):
    result, _ = graded_later(
        run_suite(make_suite(one=SLOW), "scripted/oracle", "scripted/nop", **ONLY_STORED)
    )
    assert [one.before.agent for one in result.trials] == ["react/scripted/oracle"]


def test_a_run_without_states_says_how_to_get_them(make_suite, run_suite):
    run = run_suite(make_suite())
    with pytest.raises(UsageError, match="no states") as refused:
        graded_later(run)
    assert "--checkpoints" in str(refused.value.hint)


def test_a_state_that_is_no_longer_kept_says_so_and_costs_no_verdict(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), **ONLY_STORED)
    _, steps = run.trial(run.rows()[0].trial_id)
    for path in (Path(run.path) / "artifacts").rglob(f"*{states(steps)[0]['deliverables'][2:]}"):
        path.unlink()
    _, after = graded_later(run)
    trial, steps = after.trial(after.rows()[0].trial_id)
    assert trial.status == "passed"
    assert "no longer kept" in states(steps)[0]["error"]
    assert states(steps)[1]["passed"]


NOSY = """\
#!/bin/sh
look() { find . -type f -printf '%p %A@ %T@ %C@ %i %m\\n'; find . -type d -printf '%p %T@ %C@ %i %m\\n'; }
# step: I write.
mkdir -p d; echo not yet > out; echo x > d/f; look > /tmp/before
# step: I look whether anybody was here.
look > /tmp/after; cmp /tmp/before /tmp/after && echo done > out
"""
FOLDER = TOML.replace('"/app/out"', '"/app/out", "/app/d"')


def test_the_agent_finds_no_time_of_any_file_changed(make_suite, run_suite):
    suite = make_suite(one={"task.toml": FOLDER, "solution/solve.sh": NOSY})
    trial, found = told(run_suite(suite, checkpoints=True))
    assert trial.status == "passed"
    assert found == [(0, False), (1, True)]


MOVING = """\
#!/bin/sh
# step: Something writes all the time.
head -c 30000000 /dev/zero > out
(while [ ! -e /tmp/stop ]; do echo more >> out; done; echo end > out) > /dev/null 2>&1 &
# step: I wait until it has ended, and finish.
touch /tmp/stop; while [ "$(cat out)" != end ]; do sleep 0.1; done; echo done > out
"""


def test_a_state_that_moves_is_skipped_and_said(make_suite, run_suite):
    run = run_suite(make_suite(one={"solution/solve.sh": MOVING}), checkpoints=True)
    trial, steps = run.trial(run.rows()[0].trial_id)
    first, last = states(steps)
    assert trial.status == "passed"
    assert (first["deliverables"], first["passed"], "changed while" in first["error"]) == (None, None, True)
    assert last["passed"] is True


CRASHING = """\
#!/bin/sh
[ "$(cat /app/out)" = done ] || exit 3
echo 1 > /logs/verifier/reward.txt
"""


def test_a_grader_that_fails_on_a_state_costs_no_verdict(make_suite, run_suite):
    run = run_suite(make_suite(one={**SLOW, "tests/test.sh": CRASHING}), checkpoints=True)
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert trial.status == "passed"
    assert [one["passed"] for one in states(steps)] == [None, True, None, True]
    assert "exited with 3" in states(steps)[0]["error"]


def test_equal_states_are_graded_once(make_suite, run_suite, monkeypatch):
    asked = []

    async def counted(task, listed, grading):
        asked.append(listed)
        return await graded(task, listed, grading)

    monkeypatch.setattr("evalkit.engine.checkpoints.graded", counted)
    run_suite(make_suite(one=SLOW), checkpoints=True)
    assert len(asked) == 2  # "not yet" and "spoilt"; "done" is what was delivered in the end


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ('artifacts = ["/app/out"]\n[metadata.evalkit.grading]\nmode = "shared"\n', "are graded shared"),
        ('artifacts = ["/app/out"]\n[metadata.evalkit.grading]\nmode = "snapshot"\n', "are graded snapshot"),
        ("", "are graded snapshot"),
        ('artifacts = ["/app/out"]\n[[verifier.collect]]\ncommand = "true"\n', "have collect commands"),
    ],
)
def test_tasks_without_checkpoints_are_named_once_before_the_run(make_suite, toml, why):
    suite = make_suite(one={"task.toml": f'schema_version = "1.4"\n{toml}'}, two={})
    said = [text for text in _prepared(suite, checkpoints=True).warnings if "no checkpoints" in text]
    assert len(said) == 1
    assert said[0].startswith("no checkpoints of one:")
    assert said[0].endswith(why) or why in said[0]
    assert not [text for text in _prepared(suite).warnings if "no checkpoints" in text]


def test_of_tasks_without_checkpoints_nothing_is_stored(make_suite, run_suite):
    shared = TOML + '[metadata.evalkit.grading]\nmode = "shared"\n'
    run = run_suite(make_suite(one={**SLOW, "task.toml": shared}), checkpoints=True)
    trial, found = told(run)
    assert (trial.status, found) == ("passed", [])


def test_a_stride_without_checkpoints_is_refused(make_suite):
    with pytest.raises(UsageError, match="stride"):
        _prepared(make_suite(), checkpoint_stride=2)


def test_evalkit_toml_can_ask_for_checkpoints_and_a_flag_beats_it(make_suite, tmp_path):
    suite = make_suite()
    (tmp_path / "evalkit.toml").write_text("[run]\ncheckpoints = true\ncheckpoint_budget = 3\n")
    assert _prepared(suite, start=tmp_path).checkpoints == CheckpointPlan(stride=1, budget=3)
    assert _prepared(suite, start=tmp_path, checkpoint_stride=2).checkpoints == CheckpointPlan(2, 3)
    assert _prepared(suite, start=tmp_path, checkpoints=False).checkpoints is None


def test_a_resumed_run_has_the_checkpoints_that_it_began_with(make_suite, run_suite):
    run = run_suite(make_suite(one=SLOW), checkpoints=True, checkpoint_stride=3)
    for table in ("trials", "steps"):
        for part in (Path(run.path) / table).iterdir():
            part.unlink()
    resume(Path(run.path), Quiet())
    assert told(evalkit.load(run.path))[1] == [(3, False), (4, True)]


def test_copying_is_none_of_the_agents_time(make_suite, run_suite):
    big = "#!/bin/sh\n# step: Much.\nhead -c 150000000 /dev/zero > out\n# step: End.\necho done > out\n"
    trial, found = told(run_suite(make_suite(one={"solution/solve.sh": big}), checkpoints=True))
    plain = run_suite(make_suite("other", one={"solution/solve.sh": big}), out="plain").rows()[0]
    assert found == [(0, False), (1, True)]
    assert trial.grade_s - plain.grade_s > trial.agent_s - plain.agent_s


def _prepared(suite, *, start=None, **flags):
    return prepare(RunFlags(suites=(str(suite),), **flags), start=start)


TWIN = TOML + '[metadata.evalkit.twin]\nkind = "must-not-change"\npath = "/app/out"\n'


def test_an_impossible_twin_has_no_states(make_suite, run_suite):
    run = run_suite(make_suite(one={**SLOW, "task.toml": TWIN}), checkpoints=True)
    found = {row.variant: len(states(run.trial(row.trial_id)[1])) for row in run.rows()}
    assert found == {"clean": 4, "twin": 0}


WATCHING = """\
#!/bin/sh
look() { find . -type f -printf '%p %T@ %C@ %i %m\\n'; ls /proc | grep -c '^[0-9]'; }
# step: I write.
echo not yet > out; look > /tmp/before
# step: I look whether anybody was here.
look > /tmp/after; cmp /tmp/before /tmp/after && echo done > out
"""


def test_the_agent_finds_no_process_and_no_file_changed(make_suite, run_any):
    trial, found = told(run_any(make_suite(one={"solution/solve.sh": WATCHING}), checkpoints=True))
    assert trial.status == "passed"
    assert found == [(0, False), (1, True)]


def test_a_run_that_only_stores_has_no_graded_checkpoints(make_suite, run_suite):
    assert not checkpointed_tasks(run_suite(make_suite(one=SLOW), **ONLY_STORED))


def test_tasks_that_can_have_no_states_have_no_graded_checkpoints(make_suite, run_suite):
    shared = TOML + '[metadata.evalkit.grading]\nmode = "shared"\n'
    suite = make_suite(one=SLOW, two={**SLOW, "task.toml": shared})
    assert checkpointed_tasks(run_suite(suite, checkpoints=True)) == {("mini", "one")}
