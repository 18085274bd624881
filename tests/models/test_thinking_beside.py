"""What stands in a request beside its level of thinking: other settings, headers, and what a user's own loop adds."""

from __future__ import annotations

import json

import pytest

from evalkit.models.access import endpoint_for
from evalkit.models.failure import EndpointFailure
from evalkit.models.name import parse_model

GEMINI = "generationConfig"
CLAUDE_INTERLEAVED = "interleaved-thinking-2025-05-14"


@pytest.mark.parametrize("level", ["tokens:2048", "effort:low"])
def test_claude_thinks_between_tool_calls(asked, level):
    _, headers, _ = asked("anthropic/claude-sonnet-4-5", level)
    assert CLAUDE_INTERLEAVED in headers["anthropic-beta"].split(",")


def test_claude_is_not_asked_to_think_between_calls_where_it_is_not_to_think(asked):
    _, headers, _ = asked("anthropic/claude-sonnet-4-5", "off")
    assert CLAUDE_INTERLEAVED not in headers.get("anthropic-beta", "")


def test_other_settings_go_out_beside_the_budget(asked):
    _, _, body = asked("gemini/gemini-2.5-flash", "tokens:2048", max_tokens=4096, temperature=0.5)
    assert (
        body[GEMINI]["maxOutputTokens" if "maxOutputTokens" in body[GEMINI] else "max_output_tokens"] == 4096
    )
    assert body[GEMINI]["temperature"] == 0.5
    assert body[GEMINI]["thinkingConfig"]["thinkingBudget"] == 2048


def test_the_record_holds_the_request_as_it_went_out(asked):
    completion, _, body = asked("deepseek/deepseek-chat", "off")
    assert json.loads(completion.sent) == body


def test_an_answer_that_is_allowed_less_is_asked_for_less(asked):
    completion, _, body = asked("openai-compatible/MiMo-7B-RL", "tokens:500", max_tokens=300)
    assert body["max_tokens"] == 300
    assert completion.thinking_sent == "tokens:500"


def test_what_a_loop_of_the_users_own_asks_beside_another_budget_is_no_honest_trial(asked):
    with pytest.raises(EndpointFailure, match="differs from the one asked for"):
        asked("groq/openai/gpt-oss-120b", "effort:low", extra_body={"enable_thinking": False})


def test_what_a_loop_of_the_users_own_asks_by_default_is_read_back(asked):
    completion, _, _ = asked("groq/openai/gpt-oss-120b", "default", reasoning_effort="high")
    assert completion.thinking_sent == "effort:high"


def test_an_answer_must_be_allowed_what_is_to_be_thought(endpoint):
    model = parse_model("anthropic/claude-sonnet-4-5")
    assert endpoint_for(model, endpoint.url, "tokens:2048").least_output == 2049
    assert endpoint_for(model, endpoint.url, "default").least_output == 0
    assert endpoint_for(parse_model("openai-compatible/MiMo"), endpoint.url, "tokens:99").least_output == 0
