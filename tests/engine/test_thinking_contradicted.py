"""An agent loop that has ideas of its own about thinking: what contradicts is refused before it is sent, or told."""

from __future__ import annotations

import pytest

from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

pytestmark = pytest.mark.local
QWEN = "openai-compatible/Qwen3-8B"
GPT_OSS = "openai-compatible/gpt-oss-20b"
MIMO = "openai-compatible/MiMo-7B-RL"
SUBMIT = ("submit", "{}")
SWITCH_ON = {"chat_template_kwargs": {"enable_thinking": True}}
LOOP = """\
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import solver

@solver
def own():
    async def solve(state, generate):
        state.output = await get_model().generate(state.messages, config=GenerateConfig(**{config!r}))
        return state

    return solve
"""
TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def sums():
    return Task(
        dataset=[Sample(id="two", input="What is 1 + 1?", target="2")],
        solver=generate(),
        scorer=includes(),
        config=GenerateConfig(**{config!r}),
    )
"""


@pytest.fixture
def ask(make_suite, run_suite, endpoint, said, tmp_path):
    """Ask through a loop that sets these settings itself."""

    def run(config: dict, model: str = QWEN, **flags) -> Run:
        endpoint(said("Done."))
        file = tmp_path / "own_loop.py"
        file.write_text(LOOP.format(config=config))
        flags = {"base_url": endpoint.url, **flags}
        return run_suite(make_suite(), model, loop=f"{file}@own", **flags)

    return run


def only(run: Run) -> Trial:
    (trial,) = run.rows()
    return trial


@pytest.mark.parametrize(
    ("config", "model", "level", "why"),
    [
        ({"reasoning_effort": "high"}, GPT_OSS, "low", "asks for thinking effort:high, and --thinking says effort:low"),
        ({"extra_body": SWITCH_ON}, QWEN, "off", "asks for thinking on, and --thinking says off"),
        ({"extra_body": {"enable_thinking": True}}, QWEN, "off", "asks for thinking on"),
        ({"reasoning_effort": "high"}, QWEN, "64", "asks for thinking effort:high, and --thinking says tokens:64"),
        ({"max_tokens": 64}, QWEN, "64", "cannot think with 64 tokens in an answer of 64"),
        ({"max_tokens": 900}, MIMO, "500", "two numbers are given: 500 for thinking, and max_tokens 900"),
        (
            {"reasoning_effort": "high", "extra_body": {"thinking": {"type": "enabled", "budget_tokens": 2048}}},
            QWEN,
            "default",
            "own settings name several levels of thinking",
        ),
        (
            {"max_tokens": 1000, "extra_body": {"thinking": {"type": "enabled", "budget_tokens": 2048}}},
            QWEN,
            "default",
            "cannot think with 2048 tokens in an answer of 1000",
        ),
    ],
)  # fmt: skip
def test_settings_that_contradict_are_refused_before_anything_is_sent(
    ask, endpoint, config, model, level, why
):
    trial = only(ask(config, model, thinking=(level,)))
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert why in trial.error_message
    assert endpoint.requests == []
    assert trial.cost_usd in {None, 0}


@pytest.mark.parametrize(
    ("config", "model", "level", "sent"),
    [
        ({"reasoning_effort": "low"}, GPT_OSS, "low", "effort:low"),
        ({"extra_body": SWITCH_ON}, QWEN, "on", "on"),
        ({"max_tokens": 65}, QWEN, "64", "tokens:64"),
        ({"max_tokens": 500}, MIMO, "500", "tokens:500"),
        ({"reasoning_effort": "high"}, GPT_OSS, "default", "effort:high"),
    ],
)
def test_settings_that_say_the_same_or_stand_alone_are_sent_and_told(
    ask, endpoint, config, model, level, sent
):
    trial = only(ask(config, model, thinking=(level,)))
    assert (trial.status, trial.thinking_sent) == ("failed", sent)
    assert len(endpoint.requests) == 1


def test_settings_of_an_inspect_task_are_the_agents_too(run_suite, endpoint, said, tmp_path):
    endpoint(said("2"))
    file = tmp_path / "sums.py"
    file.write_text(TASK.format(config={"reasoning_effort": "high"}))
    trial = only(run_suite(f"inspect:{file}@sums", GPT_OSS, base_url=endpoint.url, thinking=("low",)))
    assert "asks for thinking effort:high, and --thinking says effort:low" in trial.error_message
    assert endpoint.requests == []


@pytest.mark.parametrize(
    "config", [{"extra_body": {"enable_thinking": True}}, {"reasoning_effort": "high", "max_tokens": 1000}]
)
def test_through_inspects_own_provider_a_contradiction_is_told_after_one_call(
    ask, endpoint, monkeypatch, config
):
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    trial = only(ask(config, "inspect/openai-api/local/Qwen3-8B", thinking=("off",)))
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "differs from the one asked for" in trial.error_message
    assert len(endpoint.requests) == 1
