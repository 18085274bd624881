"""A budget that bounds the whole answer: it goes out once, and a cost limit counts with it and not with more."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.local
MODEL = "together_ai/deepseek-ai/DeepSeek-V3"
SUBMIT = ("submit", "{}")


@pytest.fixture
def ask(make_suite, run_suite, endpoint, said, monkeypatch):
    monkeypatch.setenv("TOGETHERAI_API_KEY", "key-for-the-test")
    monkeypatch.setenv("TOGETHER_AI_API_BASE", endpoint.url)

    def run(**flags):
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        endpoint(said(None, SUBMIT, usage=usage))
        (trial,) = run_suite(make_suite(), MODEL, **flags).rows()
        return trial

    return run


@pytest.mark.parametrize(
    "flags", [{}, {"max_tokens": 500}, {"cost_limit": 1.0}, {"cost_limit": 1.0, "max_tokens": 500}]
)
def test_the_budget_is_what_is_sent_with_and_without_a_cost_limit(ask, endpoint, flags):
    trial = ask(thinking=("500",), **flags)
    assert (trial.status, trial.thinking_sent, trial.error_message) == ("failed", "tokens:500", None)
    assert [request.json["max_tokens"] for request in endpoint.requests] == [500]


def test_a_cost_limit_that_pays_for_the_budget_and_not_for_the_longest_answer_is_enough(ask, endpoint):
    trial = ask(thinking=("500",), cost_limit=0.008)
    assert (trial.status, trial.error_message) == ("failed", None)
    assert [request.json["max_tokens"] for request in endpoint.requests] == [500]


def test_where_less_is_left_the_answer_is_allowed_less(ask, endpoint):
    trial = ask(thinking=("5000",), cost_limit=0.007)
    assert (trial.status, trial.error_message) == ("failed", None)
    (request,) = endpoint.requests
    assert 256 <= request.json["max_tokens"] < 5000
