"""Agents with thinking budgets: what was asked, what went out, whether it was kept to, and what is refused before."""

from __future__ import annotations

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.model import GenerateConfig, ModelCall, ModelOutput, ModelUsage

from evalkit.engine.agent import make_agents, settle_thinking
from evalkit.engine.answer import Facts
from evalkit.engine.inspect_thinking import seen, thinking_settings, wire_through_inspect
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.tool_settings import ToolSettings
from evalkit.errors import UsageError
from evalkit.models.failure import SentDiffers
from evalkit.models.name import parse_model
from evalkit.trajectory.step import Think

QWEN = "openai-compatible/Qwen3-8B"
WRITE = ("bash", '{"command": "echo done > out"}')
SUBMIT = ("submit", "{}")


def usage(reasoning: int) -> dict:
    return {
        "prompt_tokens": 10,
        "completion_tokens": 90,
        "total_tokens": 100,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


@pytest.fixture
def ask(make_suite, run_suite, endpoint):
    def run(*replies, model: str = QWEN, **flags):
        endpoint(*replies)
        return run_suite(make_suite(), model, **{"base_url": endpoint.url, **flags})

    return run


@pytest.mark.local
def test_asked_sent_and_honoured_are_kept_of_each_trial_of_a_sweep(ask, said, endpoint):
    def answer(received):
        bounded = "thinking_budget" in received.json["chat_template_kwargs"]
        return said(None, SUBMIT, usage=usage(64 if bounded else 65))

    run = ask(answer, thinking=("64", "off"))
    budgeted, off = sorted(run.rows(), key=lambda trial: trial.agent, reverse=True)
    assert [budgeted.agent, off.agent] == [f"react/{QWEN}@tokens:64", f"react/{QWEN}@off"]
    facts = [(trial.thinking, trial.thinking_sent, trial.thinking_honoured) for trial in (budgeted, off)]
    assert facts == [("tokens:64", "tokens:64", True), ("off", "off", False)]
    told = sorted((request.json["chat_template_kwargs"] for request in endpoint.requests), key=len)
    assert told == [{"enable_thinking": False}, {"enable_thinking": True, "thinking_budget": 64}]


@pytest.mark.local
def test_by_default_nothing_is_sent_and_nothing_can_be_broken(ask, said):
    (trial,) = ask(said(None, SUBMIT, usage=usage(5))).rows()
    assert (trial.thinking, trial.thinking_sent, trial.thinking_honoured) == ("default", "default", None)


@pytest.mark.local
def test_the_nearest_budget_is_part_of_the_agents_name_and_outlives_a_resume(ask, said, tmp_path):
    run = ask(said(None, SUBMIT, usage=usage(5)), thinking=("max",), thinking_nearest=True)
    (trial,) = run.rows()
    assert trial.agent == f"react/{QWEN}@effort:max~tokens:65536"
    assert (trial.thinking, trial.thinking_sent) == ("effort:max", "tokens:65536")

    from evalkit.engine.resume import _agent

    (entry,) = run.manifest.agents
    assert _agent(entry).id == entry.id
    assert _agent(entry).thinking.level == "tokens:65536"


@pytest.mark.local
def test_levels_for_which_the_same_nearest_is_taken_are_agents_of_their_own(ask, said, endpoint):
    levels = ("none", "minimal", "low", "Effort:Low", "700")
    run = ask(
        said(None, SUBMIT, usage=usage(5)),
        model="openai-compatible/gpt-oss-20b",
        thinking=levels,
        thinking_nearest=True,
    )
    facts = {trial.agent.partition("@")[2]: trial for trial in run.rows()}
    assert {
        name: (one.thinking, one.thinking_taken, one.thinking_sent, one.thinking_honoured)
        for name, one in facts.items()
    } == {
        "off~effort:low": ("off", "effort:low", "effort:low", False),
        "effort:minimal~low": ("effort:minimal", "effort:low", "effort:low", None),
        "effort:low": ("effort:low", None, "effort:low", None),
        "tokens:700~effort:low": ("tokens:700", "effort:low", "effort:low", None),
    }
    assert [request.json["reasoning_effort"] for request in endpoint.requests] == ["low"] * 4
    assert {entry.id: entry.settings.get("thinking_taken") for entry in run.manifest.agents} == {
        trial.agent: trial.thinking_taken for trial in run.rows()
    }


@pytest.mark.local
@pytest.mark.parametrize("model", [QWEN, "inspect/openai-api/local/Qwen3-8B"])
@pytest.mark.parametrize("level", ["off", "64"])
def test_thinking_that_can_be_read_is_believed_before_a_count_of_0(ask, said, monkeypatch, model, level):
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    run = ask(
        said(None, SUBMIT, usage=usage(0), reasoning_content="Let me think."), model=model, thinking=(level,)
    )
    (trial,) = run.rows()
    assert trial.thinking_honoured is (False if level == "off" else None)
    assert trial.reasoning_tokens is None
    _, steps = run.trial(trial.trial_id)
    (think,) = [step for step in steps if isinstance(step, Think)]
    assert (think.reasoning, think.reasoning_tokens) == ("Let me think.", None)


@pytest.mark.local
@pytest.mark.parametrize("model", [QWEN, "inspect/openai-api/local/Qwen3-8B"])
def test_off_without_counts_or_thoughts_is_not_known_to_be_honoured(ask, said, monkeypatch, model):
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    (trial,) = ask(said(None, SUBMIT), model=model, thinking=("off",)).rows()
    assert (trial.thinking_honoured, trial.reasoning_tokens) == (None, None)


@pytest.mark.local
def test_what_was_made_otherwise_on_its_way_fails_after_one_call(ask, said, endpoint, monkeypatch):
    from evalkit.models import wiretap

    monkeypatch.setattr(wiretap, "merged", lambda body, piece: {**body, "thinking_budget": 7})
    run = ask(said(None, SUBMIT), thinking=("64",), epochs=3, max_trials=1)
    for trial in run.rows():
        assert (trial.status, trial.error_origin) == ("unscored", "model")
        assert "tokens:7 instead of tokens:64" in trial.error_message
    assert len(endpoint.requests) == 1
    assert {trial.thinking_sent for trial in run.rows()} == {"tokens:7", None}, "others were not asked at all"


@pytest.mark.local
@pytest.mark.parametrize(("asked", "kept"), [("off", 0), ("1", 1), ("high", None)])
def test_a_scripted_agent_keeps_to_its_budget_exactly(make_suite, run_suite, asked, kept):
    run = run_suite(make_suite(), "scripted/oracle", thinking=(asked,))
    (trial,) = run.rows()
    _, steps = run.trial(trial.trial_id)
    spent = [step.reasoning_tokens for step in steps if isinstance(step, Think)]
    assert trial.status == "passed"
    assert trial.thinking_sent == trial.thinking
    if kept is None:
        assert trial.thinking_honoured is None
        assert max(spent) > 1
    else:
        assert max(spent) == kept
        assert trial.thinking_honoured is True


def test_an_impossible_level_is_refused_before_anything_is_made(make_suite, tmp_path):
    flags = RunFlags(
        suites=(str(make_suite()),),
        models=("gemini/gemini-2.5-pro",),
        thinking=("low", "off"),
        out=tmp_path / "run",
    )
    with pytest.raises(UsageError, match="'off'") as refused:
        prepare(flags)
    assert "128 to 32768" in str(refused.value.hint)
    assert not (tmp_path / "run").exists()


def test_the_project_can_say_that_the_nearest_will_do(make_suite, tmp_path, monkeypatch):
    suite = make_suite()
    project = tmp_path / "evalkit.toml"
    project.write_text('[run]\nmodels = ["openai/o3"]\nthinking = ["off", 2000]\nthinking_nearest = true\n')
    agents = prepare(RunFlags(suites=(str(suite),)), start=tmp_path).agents
    assert [agent.id for agent in agents] == [
        "react/openai/o3@off~effort:low",
        "react/openai/o3@tokens:2000~effort:low",
    ]
    with pytest.raises(UsageError, match="cannot be given"):
        prepare(RunFlags(suites=(str(suite),), thinking_nearest=False), start=tmp_path)


def test_what_is_no_budget_is_refused_with_the_place_where_it_was_given(make_suite, tmp_path):
    suite = str(make_suite())
    (tmp_path / "evalkit.toml").write_text("[run]\nthinking = [-5]\n")
    with pytest.raises(UsageError) as refused:
        prepare(RunFlags(suites=(suite,)), start=tmp_path)
    assert refused.value.where == f"{tmp_path / 'evalkit.toml'}: run.thinking"
    with pytest.raises(UsageError) as refused:
        prepare(RunFlags(suites=(suite,), thinking=("-6",)), start=tmp_path)
    assert refused.value.where == "--thinking"


@pytest.mark.parametrize(
    ("model", "asked", "settings"),
    [
        ("inspect/anthropic/claude-sonnet-4-5", "2048", {"reasoning_tokens": 2048}),
        ("inspect/anthropic/claude-sonnet-4-5", "medium", {"reasoning_tokens": 8192}),
        ("inspect/anthropic/claude-opus-4-7", "high", {"reasoning_effort": "high"}),
        ("inspect/google/gemini-2.5-flash", "off", {"reasoning_effort": "none"}),
        ("inspect/google/gemini-2.5-flash", "dynamic", {"reasoning_tokens": -1}),
        ("inspect/google/gemini-3-pro-preview", "low", {"reasoning_effort": "low"}),
        ("inspect/openai/gpt-5-mini", "minimal", {"reasoning_effort": "minimal"}),
        ("inspect/openai/gpt-5-mini", "dynamic", {}),
        ("inspect/openrouter/qwen/qwen3-8b", "777", {"extra_body": {"reasoning": {"max_tokens": 777}}}),
        (
            "inspect/vllm/Qwen/Qwen3-8B",
            "off",
            {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},
        ),
    ],
)
def test_inspects_own_providers_are_given_what_they_pass_on(model, asked, settings):
    (agent,) = settle_thinking(make_agents([model], [asked], ToolSettings()), nearest=False)
    assert thinking_settings(agent.model, agent.thinking.level) == settings


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("inspect/groq/qwen/qwen3-32b", "off"),
        ("inspect/ollama/qwen3:8b", "on"),
        ("inspect/openai-api/x/adactrl-7b", "off"),
    ],
)
def test_what_inspects_provider_would_leave_out_is_refused(model, asked):
    with pytest.raises(UsageError, match="does not pass it on") as refused:
        settle_thinking(make_agents([model], [asked], ToolSettings()), nearest=False)
    assert "through litellm" in str(refused.value.hint)


def event(request: dict) -> ModelEvent:
    return ModelEvent(
        model="m",
        input=[],
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(),
        output=ModelOutput(model="m", usage=ModelUsage()),
        call=ModelCall.create(request, {}),
    )


def test_a_call_of_inspects_is_read_back_and_a_silent_omission_found():
    model = parse_model("inspect/google/gemini-2.5-flash")
    wire = wire_through_inspect(model, "tokens:512")
    told = {"generation_config": {"thinking_config": {"thinking_budget": 512, "include_thoughts": True}}}
    assert seen(Facts(usage=None), event(told), wire).thinking_sent == "tokens:512"
    with pytest.raises(SentDiffers, match="default instead of tokens:512"):
        seen(Facts(usage=None), event({"generation_config": {}}), wire)
    assert wire_through_inspect(parse_model("openai/gpt-5"), "effort:low") is None


def test_what_inspect_puts_beside_the_parameters_counts_as_in_the_body():
    wire = wire_through_inspect(parse_model("inspect/vllm/Qwen/Qwen3-8B"), "off")
    request = {"model": "m", "extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    assert seen(Facts(usage=None), event(request), wire).thinking_sent == "off"


@pytest.mark.local
@pytest.mark.parametrize("loop", ["react", "inspect_ai/generate"])
def test_an_inspect_provider_that_leaves_a_budget_out_fails_the_trial(
    make_suite, run_suite, endpoint, said, monkeypatch, loop
):
    from evalkit.engine import attempts

    monkeypatch.setattr(attempts, "thinking_settings", lambda model, level: {})
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    endpoint(said(None, SUBMIT))
    run = run_suite(
        make_suite(), "inspect/openai-api/local/Qwen3-8B", base_url=endpoint.url, thinking=("64",), loop=loop
    )
    (trial,) = run.rows()
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "default instead of tokens:64" in trial.error_message
    assert (trial.thinking, trial.thinking_sent) == ("tokens:64", "default")


@pytest.mark.local
def test_an_inspect_provider_that_passes_a_budget_on_is_believed_after_a_look(
    make_suite, run_suite, endpoint, said, monkeypatch
):
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    endpoint(said(None, WRITE, usage=usage(3)), said(None, SUBMIT, usage=usage(3)))
    run = run_suite(
        make_suite(), "inspect/openai-api/local/Qwen3-8B", base_url=endpoint.url, thinking=("64",)
    )
    (trial,) = run.rows()
    assert (trial.status, trial.thinking_sent, trial.thinking_honoured) == ("passed", "tokens:64", True)
    assert endpoint.requests[0].json["chat_template_kwargs"]["thinking_budget"] == 64
