"""How runs of mini-swe-agent end, what they cost, and who made them."""

from __future__ import annotations

import json

import pytest

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
def test_how_it_ended(files, status, message, origin, stop, kind, answer, result, trajectory):
    info = {} if message is None else {"exception_str": message}
    columns = files.convert(trajectory(answer(), result(), status=status, **info)).columns
    assert columns["status"] == "unscored"
    assert (columns["error_origin"], columns["stop_reason"], columns["error_type"]) == (origin, stop, kind)


@pytest.mark.parametrize(
    ("calls", "cost", "stop"), [(250, 0.5, "step_limit"), (10, 3.2, "cost_limit"), (10, 0.5, None)]
)
def test_which_limit_it_was(files, calls, cost, stop, answer, result, trajectory):
    whole = trajectory(answer(), result(), status="LimitsExceeded")
    whole["info"]["model_stats"] = {"api_calls": calls, "instance_cost": cost}
    whole["messages"][2]["extra"]["cost"] = cost
    assert files.convert(whole).columns["stop_reason"] == stop


def test_a_patch_without_an_exit_status_is_not_a_killed_run(files, answer, trajectory, patch):
    columns = files.convert(trajectory(answer(), status=None, submission=patch)).columns
    assert (columns["answer"], columns["error_type"], columns["error_origin"]) == (patch, "unjudged", None)


def test_numbers_of_the_header_that_do_not_add_up_are_remarked_on(files, answer, result, trajectory):
    whole = trajectory(answer(), result(), answer(call="b", at=3.0))
    whole["info"]["model_stats"] = {"api_calls": 1, "instance_cost": 7.0}
    columns = files.convert(whole).columns
    assert (columns["model_calls"], columns["cost_usd"]) == (2, None)
    assert files.notes.warnings == {
        "api_calls says 1, but there are 2 answers, which count": 1,
        "instance_cost says 7, but the answers cost 1, which counts": 1,
    }


def test_a_cost_of_0_that_could_not_be_computed_is_unknown(files, answer, result, trajectory, thinks):
    whole = trajectory(answer(), result())
    whole["info"]["config"]["model"]["cost_tracking"] = "ignore_errors"
    whole["info"]["model_stats"]["instance_cost"] = 0.0
    whole["messages"][2]["extra"]["cost"] = 0.0
    told = files.convert(whole)
    assert (thinks(told)[0].cost_usd, told.columns["cost_usd"]) == (None, None)


def test_tokens_of_the_whole_trial_where_no_answer_has_its_own(files, first_version, patch):
    whole = first_version(status="Submitted", result=patch)
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
def test_exit_codes(files, code, exception, exit_code, kind, answer, result, trajectory, acts):
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
            "mini-swe-agent/maker/model-1@tokens:1024",
        ),
    ],
)
def test_the_agent_and_its_thinking(files, kwargs, thinking, agent, answer, result, trajectory):
    told = files.convert(trajectory(answer(), result(), model_kwargs=kwargs))
    assert (told.columns["thinking"], told.agent) == (thinking, agent)


def test_without_a_configured_model_the_one_that_was_served_counts(files, answer, result, trajectory):
    whole = trajectory(answer(), result())
    del whole["info"]["config"]
    assert files.convert(whole).agent == "mini-swe-agent/served-1"


def test_settings_hold_no_secret_and_nothing_of_the_task(files, answer, result, trajectory):
    whole = trajectory(answer(), result())
    environment = whole["info"]["config"]["environment"]
    environment["run_args"] = ["--rm", "OPENAI_API_KEY=very-secret", "LANG=C"]
    settings = json.dumps(files.convert(whole).settings)
    assert "very-secret" not in settings
    assert "LANG=C" in settings
    assert "swebench/x" not in settings


def test_whoever_imports_can_name_suite_and_agent(files, answer, result, trajectory):
    told = files.convert(trajectory(answer(), result()), suite="mine", agent="me")
    assert (told.suite, told.agent) == ("mine", "me")
