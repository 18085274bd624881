"""The verbs, as a user types them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

LONG_LINE = re.compile(r"^.{81,}$", re.MULTILINE)


def test_help_names_every_verb(command):
    said = command("--help")
    assert said.code == 0
    for verb in ("run", "show", "suite", "doctor", "init"):
        assert f"\n  {verb} " in said.out


def test_the_version_is_printed(command):
    assert command("--version").out == "evalkit 0.1.0\n"


@pytest.mark.parametrize(
    ("args", "guess"),
    [
        (("rnu", "core"), "Did you mean 'run'?"),
        (("suite", "chek"), "Did you mean 'check'?"),
        (("run", "coer"), "Did you mean core?"),
        (("run", "core", "--model", "scripted/orcale"), "Did you mean scripted/oracle?"),
        (("run", "core", "--epoch", "2"), "--epochs"),
        (("run", "core", "--sandbox", "lcal"), "local"),
        (("run", "core", "--thinking", "hihg"), "high"),
    ],
)
def test_a_misspelling_is_answered_with_what_was_meant_and_exit_2(command, args, guess):
    said = command(*args)
    assert said.code == 2
    assert guess in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "core", "--model", "openai/gpt-5"), "missing in the environment: OPENAI_API_KEY"),
        (("run", "core", "--model", "opnai/gpt-5"), "Did you mean openai/gpt-5?"),
        (("run", "core", "--model", "openai-compatible/x"), "does not say where its server is"),
        (
            ("run", "core", "--model", "openai/x", "--base-url", "localhost:8000"),
            "is no address of a model endpoint",
        ),
        (("run", "core", "--model", "openai/x", "--base-url", "http://me:pass@host/v1"), "would be stored"),
        (("run", "core", "--cost-limit", "nan"), "is no number of dollars above 0"),
        (("run", "core", "--temperature", "-1"), "--temperature"),
        (
            ("run", "core", "-m", "gemini/gemini-2.5-pro", "--thinking", "off"),
            "cannot be given the thinking budget",
        ),
        (("run", "core", "--sandbox", "dokcer"), "Did you mean docker?"),
        (("run", "core", "--task", "nothing*"), "no task matches"),
        (("run", "core", "--epochs", "0"), "greater than or equal to 1"),
        (("run", "core", "--time-limit", "-1"), "--time-limit"),
        (("run", "core", "--time-limit", "nan"), "'--time-limit': 'nan' is no number of seconds"),
        (("run", "core", "--time-limit", "inf"), "'--time-limit': inf is not between 0.001 and"),
        (("run", "core", "--task", "!*"), "A pattern that begins with ! leaves out"),
        (("run", "core", "core"), "two suites are called 'core'"),
        (("run",), "no suite was named"),
        (("run", "core", "--tools", "missing.toml"), "missing.toml"),
        (("show", "nowhere"), "nowhere"),
        (("show",), "there is no run yet"),
        (("suite", "show", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_is_one_clear_error_and_exit_2(command, args, message):
    said = command(*args)
    assert said.code == 2
    assert message in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_dry_run_prints_the_plan_and_makes_nothing(command, folder):
    said = command("run", "core", "--model", "scripted/oracle,scripted/nop", "--epochs", "3", "--dry-run")
    assert said.code == 0
    assert "trials    48" in said.out
    assert "at most $0.00" in said.out
    assert list(folder.iterdir()) == []


def test_a_dry_run_as_json_lists_every_trial(command):
    plan = json.loads(command("run", "core", "--task", "fix-*", "--dry-run", "--json").out)
    assert {trial["task"] for trial in plan["trials"]} <= {"fix-off-by-one", "fix-ledger-race"}
    assert plan["cost_ceiling_usd"] == 0.0


def test_without_a_model_the_oracle_runs_and_says_so_loudly(command):
    assert "No model is tested" in command("run", "core", "--dry-run").err
    assert "No model is tested" not in command("run", "core", "--dry-run", "-m", "scripted/nop").err


def test_the_bundled_suites_are_listed(command):
    suites = json.loads(command("suite", "list", "--json").out)["suites"]
    assert [(suite["name"], suite["tasks"]) for suite in suites] == [
        ("core", 8),
        ("integrity", 5),
        ("recovery", 8),
    ]


def test_a_suite_is_shown_with_its_tasks(command):
    said = command("suite", "show", "core")
    assert said.code == 0
    assert "fix-off-by-one" in said.out
    assert not LONG_LINE.search(said.out.replace(said.out.splitlines()[0], ""))


@pytest.mark.local
def test_a_run_is_recorded_shown_and_told_from_its_json(command, folder, local_support):
    said = command("run", "core", "--task", "fix-off-by-one", "--out", "here", "--json")
    assert said.code == 0, said.err
    result = json.loads(said.out)
    (metrics,) = (agent.pop("metrics") for agent in result["agents"])
    (arms,) = (agent.pop("arms") for agent in result["agents"])
    assert list(arms) == ["clean"]
    once = {"value": 1.0, "n": 1, "low": None, "high": None, "trials": 1, "unknown": 0, "why_null": None}
    assert metrics["pass^1"] == metrics["success"] == once
    assert result["agents"] == [
        {
            "agent": "react/scripted/oracle",
            "passed": 1,
            "failed": 0,
            "unscored": 0,
            "cost_usd": None,
        }
    ]
    assert json.loads(command("show", "here", "--json").out)["trials"] == result["trials"]
    table = command("show", "here")
    assert "fix-off-by-one.oracle.1" in table.out
    assert not LONG_LINE.search(table.out.split("Every step")[0])
    trial = command("show", "here", "fix-off-by-one")
    assert "passed  reward 1" in trial.out
    assert "more lines (--full shows them)" in trial.out
    assert len(command("show", "here", "fix-off-by-one", "--full").out) > len(trial.out)
    steps = json.loads(command("show", "here", "fix-off-by-one", "--json").out)["steps"]
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert "Did you mean fix-off-by-one" in command("show", "here", "fix-off-by-two.oracle.1").err
    again = command("run", "core", "--task", "fix-off-by-one", "--out", "here")
    assert again.code == 2
    assert "resume here" in again.err


@pytest.mark.local
def test_a_new_project_proves_and_runs_its_suite(command, folder, local_support):
    assert command("init").code == 0
    assert command("suite", "check", "smoke").code == 0
    said = command("run", "--out", "run")
    assert said.code == 0, said.err
    assert command("init").code == 2
    assert json.loads(command("show", "run", "--json").out)["agents"][0]["passed"] == 1


@pytest.mark.local
def test_a_suite_that_proves_nothing_is_refused_with_exit_3(command, folder, local_support):
    command("suite", "new", "mine")
    (grader,) = Path("suites/mine").rglob("test.sh")
    grader.write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    toml = next(Path("suites/mine").rglob("task.toml"))
    toml.write_text(
        "\n".join(line for line in toml.read_text().splitlines() if not line.startswith(("checks", "nonce")))
    )
    said = command("suite", "check", "mine", "--exploits", "none", "--json")
    assert said.code == 3
    (task,) = json.loads(said.out)["tasks"]
    assert task["problems"] == ["doing nothing passes: the grader does not look at the work"]


@pytest.mark.local
def test_a_plans_faults_are_proven_where_they_are_asked_for(command, folder, local_support):
    assert command("init").code == 0
    Path("plan.toml").write_text(
        '[[faults]]\nid = "flaky"\nkind = "error_500"\nwhen = { tool = "bash" }\nuntil = "no-such-program"\n'
    )
    said = command("suite", "check", "smoke", "--exploits", "none", "--faults", "plan.toml", "--json")
    assert said.code == 3
    (task,) = json.loads(said.out)["tasks"]
    assert [proof["fault"] for proof in task["faults"]] == ["flaky"]
    assert any("until could not be asked with oracle: exit code 127" in one for one in task["problems"])


@pytest.mark.local
def test_a_project_is_told_which_faults_its_proof_leaves_out(command, folder, local_support):
    assert command("init").code == 0
    Path("plan.toml").write_text('[[faults]]\nid = "flaky"\nkind = "error_500"\n')
    toml = Path("evalkit.toml")
    toml.write_text(toml.read_text().replace("[run]\n", '[run]\nfaults = "plan.toml"\n', 1))
    check = ("suite", "check", "smoke", "--exploits", "none")
    said = command(*check)
    assert (said.code, "the faults of plan.toml" in " ".join(said.err.split())) == (0, True)
    assert "the faults of" not in command(*check, "--faults", "none").err


@pytest.mark.local
def test_unscored_trials_give_exit_6_and_say_why(command, folder, local_support):
    command("suite", "new", "mine")
    (grader,) = Path("suites/mine").rglob("test.sh")
    grader.write_text("#!/bin/sh\nexit 1\n")
    said = command("run", "mine", "--out", "run")
    assert said.code == 6
    assert "1 of 1 trials are unscored" in said.err
    assert "the grader did not sign a verdict" in " ".join(said.out.split())


@pytest.mark.local
def test_a_missing_key_is_named_before_anything_is_made(command, folder, local_support, monkeypatch):
    for name in ("OPENAI_API_KEY", "AZUREAI_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    said = command("run", "core", "--task", "fix-off-by-one", "-m", "inspect/openai/gpt-5")
    assert said.code == 2
    assert "OPENAI_API_KEY" in said.err
    assert "[bold]" not in said.err
    assert list(folder.iterdir()) == []


@pytest.mark.local
def test_a_task_that_writes_where_the_machine_lives_is_refused_before_the_run(command, folder, local_support):
    command("suite", "new", "mine")
    (dockerfile,) = Path("suites/mine").rglob("Dockerfile")
    (dockerfile.parent / "tool").write_text("x")
    dockerfile.write_text(dockerfile.read_text() + "COPY tool /usr/local/bin/tool\n")
    said = command("run", "mine", "-m", "scripted/oracle", "--out", "run")
    assert said.code == 2
    assert "/usr/local/bin/tool" in said.err
    assert "docker" in said.err
    assert not Path("run").exists()


@pytest.mark.local
def test_doctor_finds_what_this_machine_has(command, local_support):
    said = command("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(said.out)["checks"]}
    assert said.code == 0
    assert checks["local sandbox"]["ok"] is True
    assert "bubblewrap" in command("doctor").out


@pytest.mark.local
def test_cleaning_says_when_there_was_nothing_to_remove(command, local_support, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine.sock")
    assert command("doctor", "--clean").out.endswith("\nnothing to remove\n")
    assert "nothing to remove" not in command("doctor").out


def test_a_pattern_with_an_exclamation_mark_leaves_tasks_out(command):
    def chosen(*args: str) -> set[str]:
        plan = json.loads(command("run", "core", *args, "--dry-run", "--json").out)
        return {trial["task"] for trial in plan["trials"]}

    assert chosen("--task", "!fix-*") == chosen() - chosen("--task", "fix-*")
    assert chosen("--task", "!fix-off-by-one") == chosen() - {"fix-off-by-one"}


def test_a_task_that_is_refused_is_left_out_as_the_hint_says(command):
    command("suite", "new", "mine")
    (toml,) = Path("suites/mine").rglob("task.toml")
    name = toml.parent.name
    toml.write_text(toml.read_text().replace("[environment]", "[environment]\nmemory_mb = 900000000"))
    said = command("run", "mine", "--dry-run")
    assert said.code == 2
    assert f"--task '!{name}'" in said.err
    assert command("run", "mine", "core", "--task", f"!{name}", "--dry-run").code == 0


def test_one_reason_for_many_unscored_trials_is_told_once(command, endpoint, reply):
    endpoint(reply(b'{"error": {"message": "bad key"}}', status=401))
    said = command(
        "run",
        "core",
        "--limit",
        "2",
        "--epochs",
        "3",
        "--model",
        "openai-compatible/x",
        "--base-url",
        endpoint.url,
    )
    assert said.code == 6
    assert said.out.count("bad key") == 1
    assert "unscored 6 trials, such as " in said.out


def test_what_agents_cost_is_shown_where_it_is_known(command, endpoint, said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    endpoint(said(None, ("submit", "{}"), usage=usage))
    shown = command("run", "core", "--task", "fix-off-by-one", "--model", "openai/gpt-4o-mini")
    assert "$0.0002" in shown.out
    endpoint(said(None, ("submit", "{}"), usage={}))
    unknown = command(
        "run", "core", "--task", "fix-off-by-one", "--model", "openai/gpt-4o-mini", "--out", "second"
    )
    assert "$" not in unknown.out
