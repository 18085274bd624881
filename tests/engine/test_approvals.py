"""Boundaries hold before execution: what is denied never runs, is recorded, and the agent goes on."""

from __future__ import annotations

import json

import pytest

from evalkit.errors import NotComparable, UsageError
from evalkit.trajectory.step import Act, Event

pytestmark = pytest.mark.local

POLICY = """\
[[rule]]
name = "keep-users"
decision = "deny"
path = "/app/users.db"
reason = "the users belong to somebody"

[[rule]]
name = "no-force-push"
decision = "deny"
tool = "bash"
command = "git push .*(-f|--force)"

[[rule]]
name = "look"
decision = "allow"
command = "^ls"
"""
TRESPASS = """\
# step: I tidy up.
echo gone > users.db; echo ran > traces
# step: I publish.
git push origin main --force
# step: I look.
ls
# step: I do the task.
echo done > out
"""
TASK = {
    "solution/trespass.sh": TRESPASS,
    "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY users.db ./\n",
    "environment/users.db": "kept\n",
    "task.toml": 'schema_version = "1.4"\nartifacts = ["/app"]\n[environment]\nnetwork_mode = "no-network"\n',
}


@pytest.fixture
def policy(tmp_path):
    """Write approvals; the path to them."""

    def write(text=POLICY, name="strict.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def trespass(make_suite, run_suite):
    """Let the trespasser play; its row, its acts and its events."""

    def play(*models, suite=None, **flags):
        run = run_suite(suite or make_suite(one=TASK), *(models or ("scripted/trespasser",)), **flags)
        trial, steps = run.trial(run.rows()[0].trial_id)
        acts = [step for step in steps if isinstance(step, Act)]
        return trial, acts, [step for step in steps if isinstance(step, Event) and step.event == "approval"]

    return play


def test_a_denied_line_never_ran_and_the_agent_goes_on(trespass, policy, make_suite):
    look = {"solution/trespass.sh": TRESPASS + "# step: I see.\nhead -1 /app/users* traces 2>&1\n"}
    trial, acts, _ = trespass(suite=make_suite(one={**TASK, **look}), approvals=policy())
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    first, second, third, fourth, *_ = acts
    assert (first.approval, first.error_kind, first.exit_code, first.stdout) == (
        "deny:keep-users",
        "denied",
        None,
        None,
    )
    assert first.observation == "denied: the users belong to somebody; the call was not run"
    assert (second.approval, second.error_kind) == ("deny:no-force-push", "denied")
    assert second.observation == "denied: the rule no-force-push does not permit this; the call was not run"
    assert (third.approval, third.error_kind, third.exit_code) == ("allow:look", None, 0)
    assert "traces" not in third.stdout
    assert (fourth.approval, fourth.exit_code) == ("allow", 0)
    assert acts[-1].approval == "allow"  # submit


def test_the_same_holds_in_every_sandbox(make_suite, run_any, policy):
    run = run_any(make_suite(one=TASK), "scripted/trespasser", approvals=policy())
    trial, steps = run.trial(run.rows()[0].trial_id)
    acts = [step for step in steps if isinstance(step, Act)]
    decided = [act.approval for act in acts]
    assert decided == ["deny:keep-users", "deny:no-force-push", "allow:look", "allow", "allow"]
    assert "traces" not in acts[2].stdout
    assert trial.status == "passed"


def test_every_stage_is_held(make_suite, run_suite, policy):
    staged = {**TASK, "instruction.md": None, "tests/test.sh": None, "solution/solve.sh": None}
    staged["task.toml"] += '[[steps]]\nname = "first"\n[[steps]]\nname = "second"\n'
    for name in ("first", "second"):
        staged |= {
            f"steps/{name}/instruction.md": "Write `done` into /app/out.\n",
            f"steps/{name}/tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
            f"steps/{name}/solution/solve.sh": "echo done > out\n",
            f"steps/{name}/solution/trespass.sh": TRESPASS,
        }
    del staged["solution/trespass.sh"]
    run = run_suite(make_suite(one=staged), "scripted/trespasser", approvals=policy())
    acts = [step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act)]
    once = ["deny:keep-users", "deny:no-force-push", "allow:look", "allow", "allow"]
    assert [act.approval for act in acts] == once * 2


def test_without_approvals_the_same_calls_run(trespass):
    trial, acts, events = trespass()
    assert trial.status == "passed"
    assert [act.approval for act in acts] == [None] * 5
    assert acts[0].exit_code == 0
    assert "traces" in acts[2].stdout
    assert events == []
    assert trial.approvals is None


def test_every_decision_that_is_no_plain_allowance_is_an_event_of_its_call(trespass, policy):
    _, acts, events = trespass(approvals=policy())
    told = [(event.parent_step, json.loads(event.detail)) for event in events]
    assert [(parent, detail["decision"], detail["rule"], detail["by"]) for parent, detail in told] == [
        (acts[0].step, "deny", "keep-users", "rule"),
        (acts[1].step, "deny", "no-force-push", "rule"),
        (acts[2].step, "allow", "look", "rule"),
    ]


def test_row_agent_and_run_say_which_approvals_held(trespass, policy, tmp_path):
    import evalkit

    trial, _, _ = trespass(approvals=policy())
    assert trial.approvals.startswith("strict#")
    assert trial.agent == f"react/scripted/trespasser+approvals:{trial.approvals}"
    manifest = evalkit.load(tmp_path / "run").manifest
    assert manifest.policy["approvals"]["id"] == trial.approvals
    assert manifest.policy["approvals"]["rule"][0]["name"] == "keep-users"
    assert manifest.policy["tool_settings"]["errors"] == "plain"


@pytest.mark.parametrize(
    ("style", "seen"),
    [
        ("terse", "denied"),
        ("plain", "denied: the users belong to somebody; the call was not run"),
        ("structured", '{"error":{"hint":"Do the task in another way'),
    ],
)
def test_what_the_model_sees_of_a_denial_is_a_tool_setting(trespass, policy, tmp_path, style, seen):
    (tmp_path / "tools.toml").write_text(f'denials = "{style}"\n')
    _, acts, _ = trespass(approvals=policy(), tools=tmp_path / "tools.toml")
    assert acts[0].observation.startswith(seen)


@pytest.mark.parametrize(
    ("unattended", "approval", "ran"),
    [("deny", "ask_denied:users", False), ("allow", "ask_allowed:users", True)],
)
def test_ask_means_what_was_declared_where_nobody_is_there(trespass, policy, unattended, approval, ran):
    text = f'unattended = "{unattended}"\n[[rule]]\nname = "users"\ndecision = "ask"\npath = "users.db"\n'
    _, acts, events = trespass(approvals=policy(text))
    assert acts[0].approval == approval
    assert ("traces" in acts[2].stdout) is ran
    (event,) = events
    assert json.loads(event.detail)["by"] == "unattended"


class Somebody:
    """Answers after a while, and keeps what was asked."""

    def __init__(self, answer, after_s=0.0):
        self.answer, self.after_s, self.asked = answer, after_s, []

    async def ask(self, question):
        import anyio

        self.asked.append(question)
        await anyio.sleep(self.after_s)
        return self.answer


@pytest.fixture
def attended(make_suite, tmp_path, local_support, quiet):
    """Run a task with somebody at the terminal."""

    def play(somebody, approvals, *models, **flags):
        import evalkit
        from evalkit.engine.prepare import RunFlags, prepare
        from evalkit.engine.start import start

        flags.setdefault("out", tmp_path / "run")
        suite = str(make_suite(one=TASK))
        asked = RunFlags(
            suites=(suite,), models=models or ("scripted/trespasser",), approvals=approvals, **flags
        )
        run = evalkit.load(start(prepare(asked), quiet, somebody).path)
        trial, steps = run.trial(run.rows()[0].trial_id)
        return trial, [step for step in steps if isinstance(step, Act)]

    return play


ASK = '[[rule]]\nname = "users"\ndecision = "ask"\npath = "users.db"\n'


@pytest.mark.parametrize("answer", [True, False])
def test_somebody_at_the_terminal_decides_and_the_agents_clock_stands_still(attended, policy, answer):
    somebody = Somebody(answer, after_s=2.0)
    trial, acts = attended(somebody, policy(ASK), time_limit_s=1.5)
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    assert acts[0].approval == ("ask_allowed:users" if answer else "ask_denied:users")
    assert acts[0].duration_s < 1.0
    (question,) = somebody.asked
    assert (question.task, question.tool, question.rule) == ("mini/one", "bash", "users")
    assert question.call.startswith("echo gone > users.db")


def test_resume_keeps_the_approvals_that_the_run_began_with(make_suite, run_suite, policy, tmp_path, quiet):
    import evalkit
    from evalkit.engine.start import resume

    path = policy()
    (before,) = run_suite(make_suite(one=TASK), "scripted/trespasser", approvals=path).rows()
    path.write_text('default = "deny"\n')
    for part in (*(tmp_path / "run" / "trials").iterdir(), *(tmp_path / "run" / "steps").iterdir()):
        part.unlink()
    resume(tmp_path / "run", quiet)
    again = evalkit.load(tmp_path / "run")
    (trial,) = again.rows()
    assert trial.approvals == before.approvals
    acts = [step for step in again.trial(trial.trial_id)[1] if isinstance(step, Act)]
    assert [act.approval for act in acts[:2]] == ["deny:keep-users", "deny:no-force-push"]


@pytest.mark.parametrize(
    ("edited", "said"), [('"let-users"', "no longer what it was"), ('"let users"', "approvals are none")]
)
def test_a_run_whose_stored_approvals_were_edited_is_not_gone_on_with(
    trespass, policy, tmp_path, quiet, edited, said
):
    from evalkit.engine.start import resume

    trespass(approvals=policy())
    manifest = tmp_path / "run" / "run.json"
    manifest.write_text(manifest.read_text().replace('"keep-users"', edited))
    with pytest.raises(NotComparable, match=said):
        resume(tmp_path / "run", quiet)


def test_a_missing_file_is_told_with_what_it_should_be(trespass, tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        trespass(approvals=tmp_path / "no.toml")
