"""A request that is made again belongs to its own call, also where several are under way at once."""

from __future__ import annotations

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from evalkit.engine.same_request import FailedAttempts
from evalkit.trajectory.step import Event, Think

BUSY = b'{"error": {"message": "busy"}}'
LOOP = """\
import asyncio
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.solver import solver

@solver
def both():
    async def solve(state, generate):
        model = get_model()
        asked = [model.generate([ChatMessageUser(content=text)]) for text in ("slow", "fast")]
        state.output = (await asyncio.gather(*asked))[0]
        return state

    return solve
"""


def event(text: str = "Go.", **config: object) -> ModelEvent:
    return ModelEvent(
        model="m",
        input=[ChatMessageUser(content=text, id=text)],
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(**config),
        output=ModelOutput(model="m"),
    )


def test_an_answer_has_the_failed_attempts_at_its_own_call_and_each_once():
    failed = FailedAttempts()
    for one in (event("a"), event("b"), event("a", timeout=5)):
        failed.fail(one)
    assert failed.answered(event("c")) == 0
    assert failed.answered(event("a", temperature=0.5)) == 0, "another call with the same words"
    assert failed.answered(event("a")) == 2, "how long it may take is not part of what is asked"
    assert failed.answered(event("a")) == 0
    assert failed.answered(event("b")) == 1


@pytest.fixture
def together(make_suite, run_suite, endpoint, tmp_path, monkeypatch):
    """Ask for `slow` and `fast` at once, with these answers to each."""
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")

    def run(model: str, slow: list, fast: list, **flags):
        def answer(received):
            replies = slow if received.json["messages"][-1]["content"] == "slow" else fast
            found = replies.pop(0) if len(replies) > 1 else replies[0]
            return found(received) if callable(found) else found

        endpoint(answer)
        file = tmp_path / "both.py"
        file.write_text(LOOP)
        run = run_suite(make_suite(), model, base_url=endpoint.url, loop=f"{file}@both", **flags)
        (trial,) = run.rows()
        return run.trial(trial.trial_id)

    return run


@pytest.mark.local
@pytest.mark.parametrize("model", ["openai-compatible/tiny", "openai-compatible/Qwen3-8B"])
def test_the_retries_of_one_call_are_not_those_of_another(together, said, reply, model):
    level = "off" if "Qwen" in model else "default"
    trial, steps = together(
        model,
        [reply(BUSY, status=503), reply(BUSY, status=503), said("slow")],
        [said("fast")],
        thinking=(level,),
    )
    assert {step.text: step.retries for step in steps if isinstance(step, Think)} == {"slow": 2, "fast": 0}
    assert sum(isinstance(step, Event) and step.event == "retry" for step in steps) == 2
    assert trial.thinking_sent == level


@pytest.mark.local
def test_each_attempt_is_asked_for_the_level_and_compared_with_it(together, said, reply, endpoint):
    trial, _ = together(
        "openai-compatible/Qwen3-8B",
        [reply(BUSY, status=503), said("slow")],
        [said("fast")],
        thinking=("64",),
    )
    assert trial.thinking_sent == "tokens:64"
    told = [request.json["chat_template_kwargs"] for request in endpoint.requests]
    assert told == [{"enable_thinking": True, "thinking_budget": 64}] * 3


@pytest.mark.local
@pytest.mark.parametrize("loop", ["react", "inspect_ai/generate"])
def test_a_failed_attempt_that_asked_for_another_level_is_found_through_inspects_provider(
    make_suite, run_suite, endpoint, reply, monkeypatch, loop
):
    from evalkit.engine import attempts

    monkeypatch.setattr(attempts, "thinking_settings", lambda model, level: {})
    monkeypatch.setattr(attempts, "MAX_RETRIES", 1)
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")
    endpoint(reply(BUSY, status=400))
    model = "inspect/openai-api/local/Qwen3-8B"
    (trial,) = run_suite(make_suite(), model, base_url=endpoint.url, thinking=("64",), loop=loop).rows()
    assert (trial.status, trial.error_origin, trial.thinking_sent) == ("unscored", "model", "default")
    assert "default instead of tokens:64" in trial.error_message
