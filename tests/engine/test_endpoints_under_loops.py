"""Endpoints under somebody else's agent loop, and under Inspect's own tasks: the same facts, limits and errors."""

from __future__ import annotations

import json

import pytest

from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Event, Think
from evalkit.trajectory.trial import Trial

pytestmark = pytest.mark.local
COMPATIBLE = "openai-compatible/tiny"
WRITE = ("bash", '{"command": "echo done > out"}')
SUBMIT = ("submit", "{}")
LOOP = """\
from inspect_ai.model import get_model
from inspect_ai.solver import solver

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve
"""
TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def sums():
    return Task(dataset=[Sample(id="two", input="What is 1 + 1?", target="2")], solver=generate(), scorer=includes())
"""


@pytest.fixture(params=["loop", "task"])
def ask(request, tmp_path, make_suite, run_suite, endpoint):
    """Ask through a solver of the user's on a task of ours, or through an Inspect task's own solver."""

    def run(*replies, model: str = COMPATIBLE, url: str | None = endpoint.url, **flags) -> Run:
        endpoint(*replies)
        if request.param == "loop":
            file = tmp_path / "my_loop.py"
            file.write_text(LOOP)
            return run_suite(make_suite(), model, base_url=url, loop=f"{file}@plain", **flags)
        file = tmp_path / "my_task.py"
        file.write_text(TASK)
        return run_suite(f"inspect:{file}@sums", model, base_url=url, **flags)

    run.kind = request.param
    return run


def only(run: Run) -> Trial:
    (trial,) = run.rows()
    return trial


def steps(run: Run, kind: type) -> list:
    _, found = run.trial(only(run).trial_id)
    return [step for step in found if isinstance(step, kind)]


@pytest.fixture
def right(ask, said):
    """The answers by which the trial passes."""
    return [said("2")] if ask.kind == "task" else [said(None, WRITE), said(None, SUBMIT)]


def test_what_the_wire_says_is_kept(ask, said, right):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    body = json.loads(right[0].body)
    body["usage"] = usage
    body["choices"][0]["message"]["reasoning_content"] = "Easy."
    right[0].body = json.dumps(body).encode()
    run = ask(*right)
    trial, first = only(run), steps(run, Think)[0]
    assert (trial.status, trial.depth) == ("passed", "events")
    assert (first.reasoning, first.reasoning_tokens, first.model_served) == ("Easy.", 5, "served-model")
    assert (first.input_tokens, first.cache_read_tokens, first.output_tokens) == (40, 60, 20)
    assert json.loads(trial.raw_usage)[0] == usage


def test_a_busy_endpoint_is_asked_again_off_the_clock(ask, reply, right):
    busy = reply(b'{"error": {"message": "slow down"}}', status=429, headers={"retry-after": "2"})
    run = ask(busy, *right, time_limit_s=1.5)
    trial = only(run)
    assert trial.status == "passed"
    assert trial.retry_s >= 2.0
    assert steps(run, Think)[0].retries == 1
    (event,) = [step for step in steps(run, Event) if step.event == "retry"]
    assert json.loads(event.detail)["status"] == 429


def test_a_no_is_one_clear_error(ask, reply, endpoint):
    trial = only(ask(reply(b'{"error": {"message": "the reason given"}}', status=400)))
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "HTTP 400: the reason given" in trial.error_message
    assert len(endpoint.requests) == 1


def test_settings_go_out(ask, right, endpoint):
    trial = only(ask(*right, temperature=0.25, seed=7, max_tokens=99))
    sent = endpoint.requests[0].json
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.25, 7, 99)
    assert (trial.temperature, trial.seed) == (0.25, 7)


def test_malformed_arguments_are_kept_as_written(ask, said, right):
    if ask.kind == "task":
        return  # its solver has no tools
    run = ask(said(None, ("bash", '{"command": "ls"')), *right)
    act = steps(run, Act)[0]
    assert (act.error_kind, act.arguments_raw) == ("parsing", '{"command": "ls"')
    assert only(run).status == "passed"


@pytest.mark.parametrize("limit", [0.002, 0.01])
def test_a_cost_limit_holds(ask, said, endpoint, monkeypatch, limit):
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)

    def greedy(received):
        allowed, size = received.json["max_tokens"], len(received.body)
        usage = {"prompt_tokens": size, "completion_tokens": allowed, "total_tokens": size + allowed}
        return said(None, ("bash", '{"command": "ls"}'), usage=usage)

    run = ask(greedy, model="openai/gpt-4o-mini", url=None, epochs=4, cost_limit=limit, step_limit=30)
    rows = run.rows()
    assert 0 < sum(trial.cost_usd or 0.0 for trial in rows) <= limit
    if ask.kind == "loop":
        assert {trial.stop_reason for trial in rows} == {"cost_limit"}
    assert {trial.status for trial in rows} == {"failed"}
