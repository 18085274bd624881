"""Whatever a model says is recorded, and is never a crash."""

from __future__ import annotations

import json

import anyio
import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

from evalkit.trajectory.step import Act, Prompt, Think

pytestmark = pytest.mark.local

USAGE = ModelUsage(input_tokens=11, output_tokens=7, total_tokens=18)


def call(tool, arguments=None, *, parse_error=None, call_id="same-id"):
    return ToolCall(id=call_id, function=tool, arguments=arguments or {}, parse_error=parse_error)


def says(*calls, content="", stop="tool_calls", usage=USAGE):
    message = ChatMessageAssistant(content=content, tool_calls=list(calls) or None)
    return ModelOutput(
        model="served/by-another",
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=usage,
    )


SUBMIT = says(call("submit", {"answer": "x"}))


@pytest.fixture
def run_model(make_suite, run_suite, monkeypatch):
    """Run one task against a model that says these outputs, one after the other."""

    def run(*outputs, **flags):
        left = list(outputs)

        def say(*_: object) -> ModelOutput:
            if not left:
                raise ValueError("the outputs ran out of values")
            return left.pop(0)

        model = get_model("mockllm/model", custom_outputs=say, memoize=False)
        monkeypatch.setattr("evalkit.engine.start.open_model", lambda agent: model)
        run = run_suite(make_suite(), "inspect/mockllm/model", **flags)
        return run.trial(run.rows()[0].trial_id)

    return run


def acts(steps):
    return [step for step in steps if isinstance(step, Act)]


def test_parallel_calls_with_equal_ids_are_kept_apart_by_position(run_model):
    both = says(call("bash", {"command": "echo a"}), call("bash", {"command": "echo b"}))
    _, steps = run_model(both, SUBMIT)
    assert [(act.think_step, act.call_index, act.stdout) for act in acts(steps)[:2]] == [
        (2, 0, "a\n"),
        (2, 1, "b\n"),
    ]


def test_an_unknown_tool_is_an_error_the_model_sees(run_model):
    trial, steps = run_model(says(call("rm_rf", {"x": 1})), SUBMIT)
    assert (trial.error_message, trial.stop_reason) == (None, "submitted")
    assert acts(steps)[0].error_kind == "parsing"
    assert "rm_rf" in acts(steps)[0].observation
    assert acts(steps)[0].exit_code is None


@pytest.mark.parametrize(
    "arguments", [{}, {"command": 5}, {"command": None}, {"cmd": "ls"}, {"command": ["ls"]}]
)
def test_arguments_that_do_not_fit_are_an_error_the_model_sees(run_model, arguments):
    trial, steps = run_model(says(call("bash", arguments)), SUBMIT)
    first = acts(steps)[0]
    assert trial.status == "failed"
    assert first.error_kind == "parsing"
    assert json.loads(first.arguments) == arguments


def test_arguments_that_did_not_parse_are_kept_raw(run_model):
    broken = says(call("bash", {"command": "{ec"}, parse_error="Error parsing arguments"))
    _, steps = run_model(broken, SUBMIT)
    assert acts(steps)[0].arguments is None
    assert "{ec" in acts(steps)[0].arguments_raw
    assert acts(steps)[0].error_kind == "parsing"


def test_a_model_that_never_calls_a_tool_is_nudged_and_then_has_given_up(run_model):
    words = says(content="I think it is fine.", stop="stop")
    trial, steps = run_model(words, words, words)
    assert (trial.status, trial.stop_reason, trial.model_calls) == ("failed", "gave_up", 3)
    assert sum(isinstance(step, Prompt) for step in steps) == 4


def test_report_impossible_is_kept_as_giving_up_with_its_reason(run_model):
    trial, _ = run_model(says(call("report_impossible", {"reason": "the file is missing"})))
    assert (trial.status, trial.stop_reason, trial.answer) == ("failed", "gave_up", "the file is missing")


def test_an_empty_submit_is_a_submit(run_model):
    trial, _ = run_model(says(call("submit")))
    assert (trial.stop_reason, trial.answer) == ("submitted", "")


def test_nothing_after_a_submit_in_the_same_generation_is_executed(run_model):
    trial, steps = run_model(
        says(call("submit", {"answer": ""}), call("bash", {"command": "echo done > out"}))
    )
    assert trial.status == "failed"
    assert [act.tool for act in acts(steps)] == ["submit"]


@pytest.mark.parametrize(
    ("stop", "reason"), [("content_filter", "refused"), ("model_length", "context_limit")]
)
def test_refusals_and_full_contexts_are_the_agents_end(run_model, stop, reason):
    trial, _ = run_model(says(content="no", stop=stop))
    assert (trial.status, trial.stop_reason) == ("failed", reason)


def test_a_model_without_any_choice_is_unscored(run_model):
    trial, _ = run_model(ModelOutput(model="m", choices=[], usage=USAGE))
    assert (trial.status, trial.error_origin) == ("unscored", "model")


def test_a_model_that_raises_is_unscored_with_what_it_said(run_model):
    trial, steps = run_model(says(call("bash", {"command": "true"})))
    assert (trial.status, trial.error_origin, trial.stop_reason) == ("unscored", "model", "error")
    assert "ran out of values" in trial.error_message
    assert len(acts(steps)) == 1


def test_reasoning_blocks_are_separated_from_text_with_signatures_in_order(run_model):
    content = [
        ContentReasoning(reasoning="first", signature="sig-1"),
        ContentText(text="Hello. "),
        ContentReasoning(reasoning="second", signature="sig-2"),
        ContentText(text="World."),
    ]
    _, steps = run_model(says(call("submit", {"answer": ""}), content=content))
    think = next(step for step in steps if isinstance(step, Think))
    assert (think.reasoning, think.text, think.reasoning_visibility) == (
        "first\n\nsecond",
        "Hello. World.",
        "full",
    )
    assert [block.get("signature") for block in json.loads(think.blocks)] == ["sig-1", None, "sig-2", None]


def test_redacted_reasoning_stays_opaque(run_model):
    content = [ContentReasoning(reasoning="Zm9v", redacted=True), ContentText(text="ok")]
    _, steps = run_model(says(call("submit", {"answer": ""}), content=content))
    think = next(step for step in steps if isinstance(step, Think))
    assert (think.reasoning, think.reasoning_visibility) == (None, "encrypted")


def test_counts_that_were_not_reported_are_unknown_not_zero(run_model):
    trial, steps = run_model(SUBMIT)
    think = next(step for step in steps if isinstance(step, Think))
    assert (think.reasoning_tokens, think.cache_read_tokens, think.cost_usd) == (None, None, None)
    assert (trial.reasoning_tokens, trial.reasoning_source, trial.output_tokens) == (None, "unknown", 7)


def test_the_model_that_answered_is_kept_beside_the_one_asked_for(run_model):
    trial, _ = run_model(SUBMIT)
    assert (trial.model, trial.model_served) == ("inspect/mockllm/model", "served/by-another")


def test_hostile_text_is_stored_whole(run_model):
    text = "<script>\x1b[31m\u202e\x00 ok \ud800 end"
    trial, steps = run_model(says(call("bash", {"command": "true # \ud800"}), content=text), SUBMIT)
    think = next(step for step in steps if isinstance(step, Think))
    assert (trial.error_message, trial.stop_reason) == (None, "submitted")
    assert think.text.startswith("<script>\x1b[31m")
    assert "\ufffd end" in think.text


def test_commands_with_nul_bytes_or_megabytes_are_no_crash(run_model):
    trial, steps = run_model(
        says(call("bash", {"command": "echo a\x00b"})),
        says(call("bash", {"command": "echo " + "x" * 2_000_000})),
        SUBMIT,
    )
    assert (trial.error_message, trial.stop_reason) == (None, "submitted")
    assert (acts(steps)[0].error_kind, acts(steps)[0].exit_code) == ("parsing", None)
    assert "zero byte; it was not run" in acts(steps)[0].observation
    assert acts(steps)[1].stdout_bytes == 2_000_001


def test_a_model_that_never_answers_is_unscored_not_failed(make_suite, run_suite, monkeypatch):
    async def silent(*_: object) -> ModelOutput:
        await anyio.sleep(60)
        return SUBMIT

    model = get_model("mockllm/model", custom_outputs=silent, memoize=False)
    monkeypatch.setattr("evalkit.engine.start.open_model", lambda agent: model)
    (trial,) = run_suite(make_suite(), "inspect/mockllm/model", time_limit_s=1.0).rows()
    assert (trial.status, trial.error_origin, trial.reward) == ("unscored", "model", None)
    assert "gave no answer within 1 s" in trial.error_message


@pytest.mark.parametrize(
    "arguments", [{"command": float("nan")}, {"command": "ls", "x": float("inf")}, {"command": 10**5000}]
)
def test_arguments_that_are_no_json_are_an_error_the_model_sees(run_model, arguments):
    trial, steps = run_model(says(call("bash", arguments)), SUBMIT)
    assert (trial.error_message, trial.stop_reason) == (None, "submitted")
    assert acts(steps)[0].error_kind == "parsing"


def test_deeply_nested_arguments_are_an_error_the_model_sees(run_model):
    deep: dict[str, object] = {}
    for _ in range(90):  # Inspect itself refuses what is deeper than 100
        deep = {"x": deep}
    trial, steps = run_model(says(call("bash", deep)), SUBMIT)
    assert (trial.error_message, trial.stop_reason) == (None, "submitted")
    assert acts(steps)[0].error_kind == "parsing"


@pytest.mark.parametrize("confidence", [1.5, -0.1, float("nan")])
def test_a_confidence_outside_its_range_submits_nothing(make_suite, run_suite, monkeypatch, confidence):
    outputs = [
        says(call("submit", {"answer": "x", "confidence": confidence})),
        says(call("submit", {"answer": "y", "confidence": 0.5})),
    ]
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    monkeypatch.setattr("evalkit.engine.start.open_model", lambda agent: model)
    toml = (
        'artifacts = ["/app/out"]\n[metadata.evalkit]\nanswer = "text"\nconfidence = true\n'
        '[environment]\nnetwork_mode = "no-network"\n'
    )
    grader = (
        "#!/bin/sh\n"
        'if [ "$(cat /logs/agent/answer.txt)" = y ]; then reward=1; else reward=0; fi\n'
        "echo $reward > /logs/verifier/reward.txt\n"
    )
    run = run_suite(make_suite(one={"task.toml": toml, "tests/test.sh": grader}), "inspect/mockllm/model")
    (trial,) = run.rows()
    assert (trial.status, trial.answer, trial.confidence) == ("passed", "y", 0.5)
