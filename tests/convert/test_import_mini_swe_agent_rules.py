"""What mini-swe-agent writes and no recorded run shows: other versions, other endings, reports that do not fit."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.convert.adding import Adding
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.mini_generation import commands_in
from evalkit.convert.mini_swe_agent import IMPORTER
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.trajectory.step import Act, Event, Prompt, Think

PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
}


def answer(text: str = "I look.", call: str | None = "a", at: float = 1.0, **more: Any) -> dict[str, Any]:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"id": call, "type": "function", "function": function}] if call else None,
        "extra": {
            "response": {"model": "served-1", "usage": USAGE, "choices": [{"finish_reason": "tool_calls"}]},
            "cost": 0.5,
            "timestamp": 1700000000.0 + at,
        },
        **more,
    }


def result(call: str = "a", code: object = 0, at: float = 2.0, exception: str = "") -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call,
        "content": f"<returncode>{code}</returncode>",
        "extra": {
            "raw_output": "out",
            "returncode": code,
            "exception_info": exception,
            "timestamp": 1700000000.0 + at,
        },
    }


def trajectory(*messages: object, status: str | None = "Submitted", **info: Any) -> dict[str, Any]:
    submission = info.pop("submission", PATCH if status == "Submitted" else "")
    config = {
        "agent": {"step_limit": 250, "cost_limit": 3.0},
        "model": {"model_name": "maker/model-1", "model_kwargs": info.pop("model_kwargs", {})},
        "environment": {"image": "swebench/x:latest", "run_args": ["--rm"]},
        "environment_type": "minisweagent.environments.docker.DockerEnvironment",
    }
    return {
        "info": {
            "model_stats": {"instance_cost": 0.5, "api_calls": 1},
            "config": config,
            "mini_version": "2.2.7",
            "exit_status": status,
            "submission": submission,
            **info,
        },
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, *messages],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "one__one-1",
    }


def report(*, resolved: object = True, instance: str = "one__one-1", broken: bool = False) -> dict[str, Any]:
    passing = {"success": [] if broken else ["test_b"], "failure": ["test_b"] if broken else []}
    tests = {"FAIL_TO_PASS": {"success": ["test_a"], "failure": []}, "PASS_TO_PASS": passing}
    return {
        instance: {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": resolved,
            "tests_status": tests,
        }
    }


class Files:
    """A folder of made up files, and what is made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = Notes()

    def write(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    def convert(self, content: object, name: str = "one__one-1.traj.json", **options: Any) -> Converted:
        found = self.read(self.write(name, content), **options)
        assert len(found) == 1
        return found[0]

    def read(self, path: Path, **options: Any) -> list[Converted]:
        return list(IMPORTER.convert(Source(path), self.notes, Options(**options)))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def thinks(told: Converted) -> list[Think]:
    return [step for step in told.steps if isinstance(step, Think)]


def acts(told: Converted) -> list[Act]:
    return [step for step in told.steps if isinstance(step, Act)]


def events(told: Converted) -> list[Event]:
    return [step for step in told.steps if isinstance(step, Event)]


def test_tokens_are_in_one_convention(files):
    first = thinks(files.convert(trajectory(answer(), result())))[0]
    assert (first.input_tokens, first.cache_read_tokens, first.output_tokens) == (40, 60, 20)
    assert (first.reasoning_tokens, first.model_served, first.cost_usd) == (None, "served-1", 0.5)


def test_times_are_those_between_messages(files):
    told = files.convert(trajectory(answer(), result(at=3.5), answer(call="b", at=5.0)))
    assert [step.duration_s for step in thinks(told)] == [None, 1.5]
    assert acts(told)[0].duration_s == 2.5
    assert (told.columns["finished_at"] - told.columns["started_at"]).total_seconds() == 4.0
    assert told.columns["agent_s"] is None


# ---- older and other versions


FIRST = [
    {"role": "system", "content": "s", "timestamp": 1700000000.0},
    {"role": "user", "content": "Answer in ```bash\nyour_command\n``` blocks", "timestamp": 1700000000.0},
    {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls -la\n```", "timestamp": 1700000003.0},
    {
        "role": "user",
        "content": "<returncode>2</returncode>\n<output>\nno\n</output>",
        "timestamp": 1700000004.0,
    },
    {"role": "assistant", "content": "```bash\na\n```\nor\n```bash\nb\n```", "timestamp": 1700000005.0},
    {"role": "user", "content": "Please always provide EXACTLY ONE action.", "timestamp": 1700000005.5},
    {"role": "assistant", "content": "```mswea_bash_command\nsleep 99\n```", "timestamp": 1700000006.0},
    {
        "role": "user",
        "content": "The last command <command>sleep 99</command> timed out and has been killed.",
    },
    {"role": "assistant", "content": "no action at all"},
    {"role": "user", "content": "Please always provide EXACTLY ONE action."},
    {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
]


def first_version(*, status: str, result: str) -> dict[str, Any]:
    return {
        "info": {
            "exit_status": status,
            "submission": result,
            "model_stats": {"instance_cost": 0.25, "api_calls": 5},
            "mini_version": "1.14.2",
            "config": {"model": {"model_name": "maker/model-0"}},
        },
        "messages": [*FIRST, {"role": "user", "content": result}],
        "trajectory_format": "mini-swe-agent-1",
    }


def test_calls_that_stand_in_the_text(files):
    told = files.convert(first_version(status="Submitted", result=PATCH), name="a__a-1.traj.json")
    assert [(act.tool, act.arguments, act.arguments_raw) for act in acts(told)] == [
        ("bash", '{"command":"ls -la"}', None),
        ("bash", None, '["a", "b"]'),
        ("bash", '{"command":"sleep 99"}', None),
        ("bash", '{"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}', None),
    ]
    assert [(act.exit_code, act.error_kind) for act in acts(told)] == [
        (2, None),
        (None, "parsing"),
        (None, "timeout"),
        (None, None),
    ]
    assert acts(told)[3].observation is None
    assert len(thinks(told)) == 5
    assert (acts(told)[0].duration_s, thinks(told)[0].duration_s) == (1.0, 3.0)
    assert [event.event for event in events(told)] == ["submit"]
    assert len([step for step in told.steps if isinstance(step, Prompt)]) == 3
    assert (told.task_id, told.columns["answer"]) == ("a__a-1", PATCH)


def test_of_the_first_versions_only_the_whole_cost_is_known(files):
    told = files.convert(first_version(status="Submitted", result=PATCH))
    assert {step.cost_usd for step in thinks(told)} == {None}
    assert told.columns["cost_usd"] == 0.25
    assert {step.output_tokens for step in thinks(told)} == {None}


def test_what_an_exception_said_is_no_patch(files):
    told = files.convert(first_version(status="RateLimitError", result="litellm.RateLimitError: slow down"))
    assert told.columns["answer"] is None
    assert told.columns["error_message"] == "litellm.RateLimitError: slow down"
    assert (told.columns["error_origin"], told.columns["status"]) == ("model", "unscored")


def test_blocks_in_the_text_are_no_calls_where_calls_have_fields_of_their_own(files):
    told = files.convert(trajectory(answer(), result(), answer("```bash\nrm -rf /\n```", call=None)))
    assert len(acts(told)) == 1


def test_actions_that_the_harness_took_out_of_a_text(files):
    first = answer("<bash>ls</bash>", call=None)
    first["extra"]["actions"] = [{"command": "ls"}]
    observed = {"role": "user", "content": "seen", "extra": {"raw_output": "out", "returncode": 1}}
    told = files.convert(trajectory(first, observed))
    assert [(act.arguments, act.exit_code, act.stdout, act.observation) for act in acts(told)] == [
        ('{"command":"ls"}', 1, "out", "seen")
    ]


def test_messages_of_the_responses_api(files):
    first = {
        "object": "response",
        "model": "served-2",
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}},
        "extra": {"cost": 0.5, "timestamp": 1700000001.0},
    }
    observed = {"type": "function_call_output", "call_id": "c", "output": "out", "extra": {"returncode": 0}}
    told = files.convert(trajectory(first, observed))
    think = thinks(told)[0]
    assert (think.text, think.reasoning, think.reasoning_visibility) == ("I look.", "hm", "summary")
    assert (think.output_tokens, think.reasoning_tokens, think.model_served) == (7, 5, "served-2")
    assert (acts(told)[0].observation, acts(told)[0].exit_code) == ("out", 0)


def test_an_answer_that_was_thrown_away_but_kept_beside_the_complaint(files):
    call = {"id": "m", "type": "function", "function": {"name": "bash", "arguments": '{"command'}}
    response = {"model": "served-1", "usage": USAGE, "choices": [{"message": {"tool_calls": [call]}}]}
    complaint = {
        "role": "user",
        "content": "Tool call error",
        "extra": {"interrupt_type": "FormatError", "response": response},
    }
    told = files.convert(trajectory(complaint, answer(), result()))
    assert len(thinks(told)) == 2
    assert (acts(told)[0].arguments_raw, acts(told)[0].error_kind) == ('{"command', "parsing")
    assert not files.notes.warnings.get(
        "answers that were thrown away for a malformed call are in no sum of tokens or cost"
    )


def test_an_answer_that_was_thrown_away(files):
    complaint = {"role": "user", "content": "Tool call error", "extra": {"interrupt_type": "FormatError"}}
    whole = trajectory(answer(), result(), complaint, answer(call="b", at=9))
    whole["info"]["model_stats"] = {"api_calls": 3, "instance_cost": 1.0}
    told = files.convert(whole)
    assert (told.columns["model_calls"], len(thinks(told))) == (3, 2)
    assert [event.event for event in events(told)] == ["error"]
    # What happened in between took its time too, so the next answer's is unknown.
    assert thinks(told)[1].duration_s is None
    assert files.notes.warnings == {
        "answers that were thrown away for a malformed call are in no sum of tokens or cost": 1
    }


# ---- what ended it


@pytest.mark.parametrize(
    ("status", "message", "origin", "stop", "kind"),
    [
        ("Submitted", None, None, "submitted", "unjudged"),
        ("TimeExceeded", None, None, "time_limit", "unjudged"),
        ("ContextWindowExceededError", "litellm.ContextWindow", None, "context_limit", "unjudged"),
        ("InternalServerError", "litellm.InternalServerError: x", "model", "error", "InternalServerError"),
        ("APIError", None, "model", "error", "APIError"),
        ("SomethingNew", "litellm.SomethingNew: x", "model", "error", "SomethingNew"),
        ("CalledProcessError", "docker run failed", "sandbox", "error", "CalledProcessError"),
        ("KeyError", "'action'", "harness", "error", "KeyError"),
        ("KeyboardInterrupt", "stopped", "harness", "cancelled", "KeyboardInterrupt"),
        ("agent_error", None, None, "error", "agent_error"),
    ],
)
def test_how_it_ended(files, status, message, origin, stop, kind):
    info = {} if message is None else {"exception_str": message}
    columns = files.convert(trajectory(answer(), result(), status=status, **info)).columns
    assert columns["status"] == "unscored"
    assert (columns["error_origin"], columns["stop_reason"], columns["error_type"]) == (origin, stop, kind)


@pytest.mark.parametrize(
    ("calls", "cost", "stop"), [(250, 0.5, "step_limit"), (10, 3.2, "cost_limit"), (10, 0.5, None)]
)
def test_which_limit_it_was(files, calls, cost, stop):
    whole = trajectory(answer(), result(), status="LimitsExceeded")
    whole["info"]["model_stats"] = {"api_calls": calls, "instance_cost": cost}
    whole["messages"][2]["extra"]["cost"] = cost
    assert files.convert(whole).columns["stop_reason"] == stop


def test_a_patch_without_an_exit_status_is_not_a_killed_run(files):
    columns = files.convert(trajectory(answer(), status=None, submission=PATCH)).columns
    assert (columns["answer"], columns["error_type"], columns["error_origin"]) == (PATCH, "unjudged", None)


def test_numbers_of_the_header_that_do_not_add_up_are_remarked_on(files):
    whole = trajectory(answer(), result(), answer(call="b", at=3.0))
    whole["info"]["model_stats"] = {"api_calls": 1, "instance_cost": 7.0}
    columns = files.convert(whole).columns
    assert (columns["model_calls"], columns["cost_usd"]) == (2, None)
    assert files.notes.warnings == {
        "api_calls says 1, but there are 2 answers, which count": 1,
        "instance_cost says 7, but the answers cost 1, which counts": 1,
    }


def test_a_cost_of_0_that_could_not_be_computed_is_unknown(files):
    whole = trajectory(answer(), result())
    whole["info"]["config"]["model"]["cost_tracking"] = "ignore_errors"
    whole["info"]["model_stats"]["instance_cost"] = 0.0
    whole["messages"][2]["extra"]["cost"] = 0.0
    told = files.convert(whole)
    assert (thinks(told)[0].cost_usd, told.columns["cost_usd"]) == (None, None)


def test_tokens_of_the_whole_trial_where_no_answer_has_its_own(files):
    whole = first_version(status="Submitted", result=PATCH)
    whole["info"]["model_stats"] |= {"prompt_tokens": 500, "completion_tokens": 50}
    columns = files.convert(whole).columns
    assert (columns["input_tokens"], columns["output_tokens"], columns["reasoning_tokens"]) == (500, 50, None)
    assert json.loads(columns["raw_usage"])["prompt_tokens"] == 500


@pytest.mark.parametrize(
    ("code", "exception", "exit_code", "kind"),
    [
        (-1, "Command '['docker']' timed out after 60 seconds", None, "timeout"),
        (-1, "No such container", None, "sandbox"),
        (-1, "", -1, None),
        (137, "", 137, None),
        (2**70, "", None, None),
        ("0", "", None, None),
        (None, "", None, None),
        (True, "", None, None),
    ],
)
def test_exit_codes(files, code, exception, exit_code, kind):
    message = result(code=code, exception=exception)
    message["content"] = "seen"
    act = acts(files.convert(trajectory(answer(), message)))[0]
    assert (act.exit_code, act.error_kind, act.observation) == (exit_code, kind, "seen")


# ---- who made it


@pytest.mark.parametrize(
    ("kwargs", "thinking", "agent"),
    [
        ({}, None, "mini-swe-agent/maker/model-1"),
        ({"reasoning_effort": "high"}, "effort:high", "mini-swe-agent/maker/model-1@effort:high"),
        ({"reasoning": {"effort": "none"}}, "off", "mini-swe-agent/maker/model-1@off"),
        ({"thinking": {"type": "disabled"}}, "off", "mini-swe-agent/maker/model-1@off"),
        (
            {"extra_body": {"thinking": {"type": "enabled", "budget_tokens": 1024}}},
            "tokens:1024",
            "mini-swe-agent/maker/model-1@1024",
        ),
    ],
)
def test_the_agent_and_its_thinking(files, kwargs, thinking, agent):
    told = files.convert(trajectory(answer(), result(), model_kwargs=kwargs))
    assert (told.columns["thinking"], told.agent) == (thinking, agent)


def test_without_a_configured_model_the_one_that_was_served_counts(files):
    whole = trajectory(answer(), result())
    del whole["info"]["config"]
    assert files.convert(whole).agent == "mini-swe-agent/served-1"


def test_settings_hold_no_secret_and_nothing_of_the_task(files):
    whole = trajectory(answer(), result())
    environment = whole["info"]["config"]["environment"]
    environment["run_args"] = ["--rm", "OPENAI_API_KEY=very-secret", "LANG=C"]
    settings = json.dumps(files.convert(whole).settings)
    assert "very-secret" not in settings
    assert "LANG=C" in settings
    assert "swebench/x" not in settings


def test_whoever_imports_can_name_suite_and_agent(files):
    told = files.convert(trajectory(answer(), result()), suite="mine", agent="me")
    assert (told.suite, told.agent) == ("mine", "me")


# ---- reports


def test_the_report_decides_whatever_the_exit_says(files):
    files.write("one__one-1.report.json", report(resolved=True))
    columns = files.convert(
        trajectory(answer(), result(), status="Timeout", exception_str="litellm.Timeout")
    ).columns
    assert (columns["status"], columns["reward"], columns["stop_reason"]) == ("passed", 1.0, "error")
    assert files.notes.warnings["a trial that died of its infrastructure counts as its report says"] == 1


@pytest.mark.parametrize("name", ["one__one-1.report.json", "report.json", "one__one-1.report.json.gz"])
def test_where_a_report_may_lie(files, name):
    place = files.write(name, report(resolved=False, broken=True))
    told = files.convert(trajectory(answer(), result()))
    assert told.columns["status"] == "failed"
    assert told.columns["error_type"] is None
    assert told.columns["checks"] == {"FAIL_TO_PASS:test_a": True, "PASS_TO_PASS:test_b": False}
    assert files.read(place) == []


def test_a_report_about_another_instance_is_not_used(files):
    files.write("report.json", report(instance="other__other-2"))
    assert files.convert(trajectory(answer(), result())).columns["status"] == "unscored"
    assert "report.json is about another instance, and is not used" in files.notes.warnings


def test_a_damaged_report_is_a_loss(files):
    files.write("one__one-1.report.json", '{"one__one-1": {"resolved": tr')
    assert files.convert(trajectory(answer(), result())).columns["status"] == "unscored"
    assert [line.partition(":")[0] for line in files.notes.losses] == ["its report one__one-1.report.json"]


def test_a_report_that_does_not_say_is_no_failure(files):
    files.write("one__one-1.report.json", report(resolved="perhaps"))
    columns = files.convert(trajectory(answer(), result())).columns
    assert (columns["status"], columns.get("reward"), columns["error_type"]) == ("unscored", None, "unjudged")


def test_a_test_that_passed_and_failed_counts_as_failed(files):
    whole = report()
    whole["one__one-1"]["tests_status"]["FAIL_TO_PASS"] = {"success": ["t", 7], "failure": ["t"]}
    files.write("report.json", whole)
    assert files.convert(trajectory(answer(), result())).columns["checks"]["FAIL_TO_PASS:t"] is False


def test_a_damaged_trajectory_leaves_its_report(files):
    files.write("one__one-1.report.json", report())
    told = files.convert('{"info": {}, "messages": [')
    assert (told.columns["status"], told.steps) == ("passed", ())
    assert len(files.notes.losses) == 1


def test_a_report_alone_is_of_the_agent_beside_it(files):
    place = files.write("two__two-2.report.json", report(instance="two__two-2"))
    assert files.read(place)[0].agent == "mini-swe-agent/unknown"
    files.write("one__one-1.traj.json", trajectory(answer()))
    told = files.read(place)[0]
    assert (told.agent, told.task_id, told.suite) == (
        "mini-swe-agent/maker/model-1",
        "two__two-2",
        "swe-bench",
    )
    other = json.dumps(trajectory(answer())).replace("maker/model-1", "maker/model-2")
    files.write("three__three-3.traj.json", other)
    assert files.read(place)[0].agent == "mini-swe-agent/unknown"


# ---- files


def test_names_and_heads_that_are_recognised(files):
    for name, content, known in (
        ("a.traj.json", "", True),
        ("run.json", trajectory(answer()), True),
        ("report.json", report(), True),
        ("x.report.json.gz", report(), True),
        ("report.json", {"mean": 1}, False),
        ("run.json", {"messages": [], "info": {}}, False),
        ("run.jsonl", trajectory(answer()), False),
    ):
        assert IMPORTER.recognises(Source(files.write(name, content))) is known, name


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"trajectory_format": "swe-agent-2", "messages": [], "info": {}}, "not of mini-swe-agent"),
        ({"info": {}}, "it has no list of messages"),
        ({"info": {}, "messages": {}}, "it has no list of messages"),
        ({"messages": []}, "it has no info"),
        ("[", "not JSON"),
    ],
)
def test_what_is_refused(files, content, why):
    with pytest.raises(Refused, match=why):
        files.convert(content)


def test_a_missing_format_key_and_an_unknown_version_are_no_harm(files):
    whole = trajectory(answer(), result())
    del whole["trajectory_format"]
    assert len(acts(files.convert(whole))) == 1
    assert len(acts(files.convert({**whole, "trajectory_format": "mini-swe-agent-7"}))) == 1


def test_further_runs_of_an_instance_are_epochs_and_copies_are_left_out(tmp_path):
    files = Files(tmp_path / "in")
    files.write("a/one__one-1/one__one-1.traj.json", trajectory(answer(), result()))
    files.write("b/one__one-1/one__one-1.traj.json.gz", trajectory(answer("Another."), result()))
    files.write("copy/one__one-1/one__one-1.traj.json", trajectory(answer(), result()))
    files.write("a/one__one-1/report.json", report())
    files.write("copy/one__one-1/report.json", report())
    done = import_run("mini-swe-agent", [tmp_path / "in"], tmp_path / "run", Options())
    found = [(trial.epoch, trial.status) for trial, _ in evalkit.load(done.path).iter_trials()]
    assert sorted(found) == [(1, "passed"), (2, "unscored")]
    assert done.adding.copies == 1


def test_blocks_that_never_end_take_no_quadratic_time():
    assert commands_in("```bash\nx " * 200_000) == []
    assert commands_in("```bash\n\n```") == [""]
    assert commands_in("```bash\nls\n```\n```python\nx\n```\n```sh\npwd\n```") == ["ls", "pwd"]


# ---- anything at all

ODD = (None, True, -1, 2**70, 1.5, "", "x", "\x00", [], [[]], {}, {"role": 1}, [None], "\ud800")


def spoiled(value: Any, chance: random.Random) -> Any:
    """The value with one part of it, at any depth, replaced by something odd, doubled or taken away."""
    value = copy.deepcopy(value)
    place: Any = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return value
        key = chance.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            place = inner
            continue
        if chance.random() < 0.15:
            del place[key]
        elif isinstance(place, list) and chance.random() < 0.3:
            place.append(inner)
        else:
            place[key] = chance.choice(ODD)
        return value


SEEDS: tuple[Mapping[str, Any], ...] = (
    trajectory(answer(), result(), answer(call="b"), {"role": "exit", "content": "", "extra": {}}),
    first_version(status="Submitted", result=PATCH),
    report(),
)


@pytest.mark.parametrize("seed", range(300))
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path, seed):
    chance = random.Random(seed)
    value: Any = SEEDS[seed % len(SEEDS)]
    for _ in range(chance.randint(1, 4)):
        value = spoiled(value, chance)
    data = json.dumps(value).encode("utf-8")
    if chance.random() < 0.4:
        data = bytearray(data[: chance.randint(0, len(data))] if chance.random() < 0.5 else data)
        for _ in range(chance.randint(0, 3) if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path = tmp_path / chance.choice(("one__one-1.traj.json", "one__one-1.report.json"))
    path.write_bytes(bytes(data))
    (tmp_path / "report.json").write_text(json.dumps(spoiled(report(), chance)), "utf-8")
    try:
        found = list(IMPORTER.convert(Source(path), Notes(), Options()))
    except Refused:
        return
    adding = Adding(run_id="spoiled")
    for told in found:
        assert adding.trial(told, format=IMPORTER.name, source=str(path), notes=Notes()) is not None
