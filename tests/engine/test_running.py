"""A run, from a suite on disk to the record."""

from __future__ import annotations

import json

import pytest

from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.trajectory.step import Act, Event, Prompt, Think

pytestmark = pytest.mark.local


def test_the_oracle_passes_and_every_step_is_kept(make_suite, run_suite):
    run = run_suite(make_suite())
    (row,) = run.rows()
    trial, steps = run.trial(row.trial_id)
    assert trial.error_message is None
    assert (trial.status, trial.reward, trial.stop_reason) == ("passed", 1.0, "submitted")
    assert [step.kind for step in steps] == [
        *("prompt", "prompt"),
        *("think", "act"),
        *("think", "act"),
        *("think", "act", "event"),
        *("event", "event"),  # what was planted
    ]
    assert [step.reasoning for step in steps if isinstance(step, Think)][:2] == ["Look first.", "Write it."]


def test_doing_nothing_fails(make_suite, run_suite):
    (trial,) = run_suite(make_suite(), "scripted/nop").rows()
    assert (trial.status, trial.reward, trial.tool_calls) == ("failed", 0.0, 1)


def test_the_row_says_what_ran_where_and_when(make_suite, run_suite):
    run = run_suite(make_suite())
    (trial,) = run.rows()
    assert (trial.suite, trial.task_id, trial.variant, trial.epoch, trial.attempt) == (
        "mini",
        "one",
        "clean",
        1,
        1,
    )
    assert (trial.agent, trial.agent_loop, trial.model) == (
        "react/scripted/oracle",
        "react",
        "scripted/oracle",
    )
    assert (trial.thinking, trial.tool_settings, trial.sandbox) == ("default", "default", "local")
    assert trial.sandbox_runtime.startswith("bubblewrap ")
    assert trial.model_served == "scripted/oracle"
    assert trial.grader_mode == "sealed"
    assert len(trial.grader_digest) == len(trial.task_digest) == len(trial.suite_digest) == 64
    assert trial.started_at < trial.finished_at
    assert trial.agent_s >= trial.model_s + trial.tool_s - 0.001
    assert trial.grade_s > 0
    assert trial.start_s > 0
    assert trial.error_origin is None


def test_tokens_are_counted_and_add_up(make_suite, run_suite):
    run = run_suite(make_suite())
    trial, steps = run.trial(run.rows()[0].trial_id)
    thinks = [step for step in steps if isinstance(step, Think)]
    assert trial.model_calls == len(thinks) == 3
    assert trial.output_tokens == sum(step.output_tokens for step in thinks)
    assert trial.reasoning_tokens == sum(step.reasoning_tokens for step in thinks)
    assert thinks[0].reasoning_tokens == 3  # "Look first." is 11 bytes
    assert (trial.reasoning_source, trial.reasoning_visibility) == ("counted", "full")
    assert trial.cost_usd is None
    assert thinks[1].input_tokens > thinks[0].input_tokens


def test_a_call_keeps_both_streams_the_exit_code_and_what_the_model_saw(make_suite, run_suite):
    solve = "# step: Fail.\necho out; echo err >&2; exit 3\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    act = next(step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act))
    assert (act.stdout, act.stderr, act.exit_code) == ("out\n", "err\n", 3)
    assert act.observation == "out\n[stderr]\nerr\n[exit code 3]\n"
    assert (act.think_step, act.call_index, act.tool) == (2, 0, "bash")
    assert json.loads(act.arguments) == {"command": solve.split("\n", 1)[1].rstrip("\n")}
    assert act.error_kind is None


def test_the_workspace_digest_changes_with_the_workspace(make_suite, run_suite):
    solve = "# step: a\ntrue\n# step: b\ntrue\n# step: c\ntouch new\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    acts = [step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act)]
    digests = [act.workspace_digest for act in acts[:3]]
    assert digests[0] == digests[1] != digests[2]
    assert all(digests)


def test_output_beyond_the_cap_is_counted_and_marked(make_suite, run_suite):
    solve = "# step: Much.\nhead -c 3000000 /dev/zero | tr '\\0' x\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    act = next(step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act))
    assert act.stdout_bytes == 3_000_000
    assert act.stdout_truncated is True
    assert len(act.stdout) < 1_200_000
    assert len(act.observation) < 17_000


def test_hostile_output_is_stored_as_valid_text_and_secrets_are_not(make_suite, run_suite):
    solve = "# step: Leak.\nprintf 'a\\377b\\n'; echo api_key=sk-abcdefghijklmnopqrstuvwxyz123456\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    act = next(step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act))
    assert act.stdout.startswith("a\ufffdb\n")
    assert act.replaced_chars == 1
    assert "abcdefghijklmnop" not in act.stdout


def test_a_time_limit_cuts_the_agent_off_and_what_it_did_is_graded(make_suite, run_suite):
    solve = "# step: Write.\necho done > out\n# step: Dawdle.\necho so far; sleep 60\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}), time_limit_s=1.5)
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.stop_reason) == ("passed", "time_limit")
    assert trial.agent_s < 10
    acts = [step for step in steps if isinstance(step, Act)]
    assert acts[-1].error_kind == "limit"
    assert (acts[-1].exit_code, acts[-1].stdout, acts[-1].observation) == (137, "so far\n", None)
    assert [step.event for step in steps if isinstance(step, Event)] == ["limit", "planted", "planted"]


def test_a_step_limit_stops_before_the_next_generation(make_suite, run_suite):
    run = run_suite(make_suite(), step_limit=1)
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.stop_reason, trial.model_calls) == ("failed", "step_limit", 1)
    assert isinstance(steps[-1], Event)


def test_a_token_limit_stops_the_agent(make_suite, run_suite):
    (trial,) = run_suite(make_suite(), token_limit=1).rows()
    assert (trial.status, trial.stop_reason, trial.model_calls) == ("failed", "token_limit", 1)


def test_a_tool_timeout_is_an_observation_not_an_end(make_suite, run_suite, tmp_path):
    (tmp_path / "tools.toml").write_text("timeout_s = 1.0\n")
    solve = "# step: Hang.\necho partial; sleep 60\n# step: Write.\necho done > out\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}), tools=tmp_path / "tools.toml")
    trial, steps = run.trial(run.rows()[0].trial_id)
    act = next(step for step in steps if isinstance(step, Act))
    assert trial.status == "passed"
    assert trial.tool_settings.startswith("tools#")
    assert (act.error_kind, act.stdout) == ("timeout", "partial\n")
    assert "timed out after 1 s" in act.observation


def test_an_agent_that_kills_its_shell_gets_a_new_one_and_an_event_says_so(make_suite, run_suite):
    solve = "# step: Kill all.\nkill -9 -1\n# step: Write.\necho done > out\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    trial, steps = run.trial(run.rows()[0].trial_id)
    act = next(step for step in steps if isinstance(step, Act))
    assert trial.status == "passed"
    assert (act.exit_code, act.error_kind) == (None, "sandbox")
    assert [step.event for step in steps if isinstance(step, Event) and step.event != "planted"] == [
        "shell_lost",
        "submit",
    ]


def test_epochs_and_agents_make_a_row_each(make_suite, run_suite):
    run = run_suite(make_suite(one={}, two={}), "scripted/oracle", "scripted/nop", epochs=2)
    rows = {(t.task_id, t.agent, t.epoch): t.status for t in run.rows()}
    assert len(rows) == 8
    assert {status for (_, agent, _), status in rows.items() if agent.endswith("oracle")} == {"passed"}
    assert {status for (_, agent, _), status in rows.items() if agent.endswith("nop")} == {"failed"}
    assert len({t.trial_id for t in run.rows()}) == 8


def test_the_instruction_is_what_the_agent_is_told(make_suite, run_suite):
    run = run_suite(make_suite())
    prompts = [step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Prompt)]
    assert [prompt.role for prompt in prompts] == ["system", "user"]
    assert prompts[1].text == "Write `done` into /app/out.\n"


def test_a_sandbox_that_breaks_makes_the_trial_unscored_with_its_origin(make_suite, run_suite, monkeypatch):
    async def broken(self, command, **options):
        raise SandboxError("the sandbox is gone")

    monkeypatch.setattr("evalkit.engine.start.check_needs", _no_check)
    monkeypatch.setattr(LocalSandbox, "exec", broken)
    trial, steps = _only(run_suite(make_suite()))
    assert (trial.status, trial.reward, trial.stop_reason) == ("unscored", None, "error")
    assert (trial.error_origin, trial.error_type) == ("sandbox", "SandboxError")
    assert [step.event for step in steps if isinstance(step, Event)].count("error") > 0


def test_a_solution_that_is_missing_is_the_tasks_fault(make_suite, run_suite):
    trial, _ = _only(run_suite(make_suite(one={"solution/solve.sh": None})))
    assert (trial.status, trial.error_origin) == ("unscored", "task")


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ("exit 0", "wrote no reward"),
        ("echo nan > /logs/verifier/reward.txt", "must be finite"),
        ("echo broken >&2; exit 7", "exited with 7"),
        ("mkdir /logs/verifier/reward.txt", "cannot be read"),
        ("ln -s /nowhere /logs/verifier/reward.txt", "cannot be read"),
    ],
)
def test_a_grader_without_a_verdict_leaves_the_trial_unscored(make_suite, run_suite, grader, message):
    trial, _ = _only(run_suite(make_suite(one={"tests/test.sh": f"#!/bin/sh\n{grader}\n"})))
    assert (trial.status, trial.reward, trial.error_origin) == ("unscored", None, "grader")
    assert message in trial.error_message
    assert trial.stop_reason == "submitted"


def test_a_grader_that_hangs_is_stopped_and_the_trial_is_unscored(make_suite, run_suite):
    toml = 'artifacts = ["/app/out"]\n[verifier]\ntimeout_sec = 1.0\n[environment]\nnetwork_mode = "no-network"\n'
    files = {"task.toml": toml, "tests/test.sh": "#!/bin/sh\nsleep 60\n"}
    trial, _ = _only(run_suite(make_suite(one=files)))
    assert (trial.status, trial.error_origin) == ("unscored", "grader")
    assert "did not end within 1 s" in trial.error_message


def test_the_exit_code_of_the_grader_is_no_verdict_when_a_reward_was_written(make_suite, run_suite):
    grader = "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\nexit 9\n"
    trial, _ = _only(run_suite(make_suite(one={"tests/test.sh": grader})))
    assert trial.status == "passed"


def test_a_program_that_is_missing_stops_the_run_before_it_begins(make_suite, run_suite, tmp_path):
    toml = '[metadata.evalkit]\nrequires = ["no-such-program"]\n[environment]\nnetwork_mode = "no-network"\n'
    with pytest.raises(UsageError, match=r"no-such-program \(needed by one\)"):
        run_suite(make_suite(one={"task.toml": toml}))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_exists_is_refused(make_suite, run_suite):
    suite = make_suite()
    run_suite(suite)
    with pytest.raises(UsageError, match="not empty"):
        run_suite(suite)


def test_a_finished_run_has_no_journal_and_few_files(make_suite, run_suite, tmp_path):
    run_suite(make_suite(one={}, two={}), epochs=2)
    assert list((tmp_path / "run" / "journal").iterdir()) == []
    assert len(list((tmp_path / "run" / "steps").iterdir())) == 1


def _no_check(*_, **__):
    return None


def _only(run):
    (row,) = run.rows()
    return run.trial(row.trial_id)


def test_a_sandbox_that_cannot_be_cleaned_up_is_noted_and_costs_no_verdict(
    make_suite, run_suite, monkeypatch
):
    real = LocalSandbox.stop

    async def stubborn(self):
        await real(self)
        if not self._trial.endswith(("preflight", ".grader")):
            raise OSError("a folder would not go")

    monkeypatch.setattr(LocalSandbox, "stop", stubborn)
    monkeypatch.setattr("evalkit.engine.inspect_sandbox.InspectSandbox.sample_cleanup", _no_cleanup)
    trial, steps = _only(run_suite(make_suite()))
    assert trial.status == "passed"
    errors = [step for step in steps if isinstance(step, Event) and step.event == "error"]
    assert "a folder would not go" in errors[-1].detail


async def _no_cleanup(*_, **__):
    return None


def test_inspects_own_log_holds_no_secret_either_and_can_still_be_read(make_suite, run_suite, tmp_path):
    from inspect_ai.log import read_eval_log

    secret = "sk-abcdefghijklmnopqrstuvwxyz123456"
    run_suite(
        make_suite(one={"solution/solve.sh": f"# step: Leak.\necho api_key={secret}; echo fine > out\n"})
    )
    (log,) = (tmp_path / "run" / "artifacts" / "inspect").glob("*.eval")
    read = read_eval_log(str(log))
    assert read.status == "success"
    text = read.model_dump_json()
    assert secret not in text
    assert "echo fine" in text


def test_the_bash_tool_is_bash_and_its_exit_code_is_the_commands(make_suite, run_suite):
    solve = "# step: Arrays.\nset -o pipefail; words=(a b); [[ ${#words[@]} == 2 ]] && exit 7\n"
    run = run_suite(make_suite(one={"solution/solve.sh": solve}))
    act = next(step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act))
    assert (act.exit_code, act.stderr) == (7, "")
