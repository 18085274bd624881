"""Agents whose model is an endpoint: what is sent, what is recorded, what happens when it does not answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.step import Act, Event, Think
from evalkit.trajectory.trial import Trial

pytestmark = pytest.mark.local
MODEL = "openai-compatible/tiny"
WRITE = ("bash", '{"command": "echo done > out"}')
SUBMIT = ("submit", "{}")


@pytest.fixture
def ask(make_suite, run_suite, endpoint):
    """Run one task with a model at the local endpoint, which answers with what is given."""

    def run(*replies, model: str = MODEL, **flags) -> Run:
        endpoint(*replies)
        return run_suite(make_suite(), model, **{"base_url": endpoint.url, **flags})

    return run


def only(run: Run) -> Trial:
    (trial,) = run.rows()
    return trial


def steps(run: Run, kind: type) -> list:
    _, found = run.trial(only(run).trial_id)
    return [step for step in found if isinstance(step, kind)]


def test_a_model_solves_a_task_over_http_and_every_fact_of_its_answers_is_kept(ask, said):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    run = ask(said("Writing.", WRITE, usage=usage, reasoning_content="I must write."), said(None, SUBMIT))
    trial = only(run)
    first, second = steps(run, Think)
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    assert (first.reasoning, first.text, first.reasoning_visibility) == ("I must write.", "Writing.", "full")
    assert (first.input_tokens, first.cache_read_tokens, first.output_tokens) == (40, 60, 20)
    assert (first.reasoning_tokens, first.finish_reason, first.retries) == (5, "tool_calls", 0)
    assert (trial.model, trial.model_served) == (MODEL, "served-model")
    assert second.reasoning_tokens is None
    assert trial.reasoning_tokens is None, "a count that one answer did not report cannot be summed"
    assert json.loads(trial.raw_usage)[0] == usage
    assert trial.cost_usd is None, "the price of a server of one's own is unknown, not 0"
    assert (trial.retry_s or 0.0) < 0.5


def test_what_was_thought_goes_back_with_the_next_call(ask, said, endpoint):
    details = [{"type": "reasoning.encrypted", "data": "c2VjcmV0", "id": "r1"}]
    ask(
        said(None, WRITE, reasoning_content="I must write.", reasoning_details=details),
        said(None, SUBMIT),
    )
    sent = endpoint.requests[1].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2]["reasoning_content"] == "I must write."
    assert sent[2]["reasoning_details"] == details
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"]


def test_thoughts_between_tags_are_thoughts_and_go_back_as_they_were_written(ask, said, endpoint):
    run = ask(said("<think>Hm.</think>Writing.", WRITE), said(None, SUBMIT))
    think = steps(run, Think)[0]
    assert (think.reasoning, think.text) == ("Hm.", "Writing.")
    assert endpoint.requests[1].json["messages"][2]["content"] == "<think>Hm.</think>Writing."


def test_calls_made_at_once_are_run_in_their_order(ask, said):
    run = ask(
        said(None, ("bash", '{"command": "echo one"}'), ("bash", '{"command": "echo two"}'), WRITE),
        said(None, SUBMIT),
    )
    acts = steps(run, Act)
    assert [(act.call_index, act.stdout) for act in acts[:3]] == [(0, "one\n"), (1, "two\n"), (2, "")]
    assert len({act.think_step for act in acts[:3]}) == 1
    assert only(run).status == "passed"


@pytest.mark.parametrize("written", ['{"command": "ls"', "ls", '["ls"]', '{"command": NaN}', "null"])
def test_arguments_that_do_not_parse_are_a_tool_error_for_the_model_and_kept_as_written(
    ask, said, endpoint, written
):
    run = ask(said(None, ("bash", written)), said(None, WRITE), said(None, SUBMIT))
    act = steps(run, Act)[0]
    assert (act.error_kind, act.arguments, act.arguments_raw) == ("parsing", None, written)
    assert "Nothing was run" in endpoint.requests[1].json["messages"][3]["content"]
    assert only(run).status == "passed"


def test_calls_with_one_id_each_get_their_own_result(ask, said, endpoint):
    twice = said(None, ("bash", '{"command": "echo one"}'), ("bash", '{"command": "echo two"}'))
    twice.body = twice.body.replace(b"call_1", b"call_0")
    ask(twice, said(None, SUBMIT))
    sent = endpoint.requests[1].json["messages"]
    ids = [call["id"] for call in sent[2]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent[3:]] == ids


def test_an_empty_answer_at_the_output_limit_is_kept_as_such_and_is_not_the_end(ask, said):
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 64,
        "total_tokens": 74,
        "completion_tokens_details": {"reasoning_tokens": 64},
    }
    run = ask(said("", usage=usage, finish="length"), said(None, WRITE), said(None, SUBMIT))
    think = steps(run, Think)[0]
    assert (think.text, think.finish_reason) == ("", "max_tokens")
    assert (think.output_tokens, think.reasoning_tokens) == (64, 64)
    assert think.reasoning_visibility == "count_only"
    assert only(run).status == "passed"


def test_a_busy_endpoint_is_asked_again_when_it_says_and_the_wait_is_not_the_agents(
    ask, said, reply, endpoint
):
    busy = reply(b'{"error": {"message": "slow down"}}', status=429, headers={"retry-after": "2"})
    run = ask(said(None, WRITE), busy, said(None, SUBMIT), time_limit_s=1.5)
    trial = only(run)
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    waited = endpoint.requests[2].at - endpoint.requests[1].at
    assert waited >= 2.0
    assert trial.retry_s == pytest.approx(waited, abs=0.5)
    think = steps(run, Think)[1]
    assert think.retries == 1
    assert think.duration_s < 1.5
    (event,) = [step for step in steps(run, Event) if step.event == "retry"]
    detail = json.loads(event.detail)
    assert (detail["attempt"], detail["status"]) == (1, 429)
    assert "slow down" in detail["error"]


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_passing_trouble_is_tried_again(ask, said, reply, status):
    run = ask(reply(b"busy", status=status), said(None, WRITE), said(None, SUBMIT))
    assert only(run).status == "passed"
    assert [think.retries for think in steps(run, Think)] == [1, 0]


def test_an_answer_cut_off_in_the_middle_is_asked_for_again(ask, said, reply):
    cut = said(None, WRITE)
    cut.cut_after = len(cut.body) // 2
    run = ask(cut, reply(hang_up=True), said(None, WRITE), said(None, SUBMIT))
    assert only(run).status == "passed"
    assert steps(run, Think)[0].retries == 2


def test_an_endpoint_that_stays_down_leaves_the_trial_unscored_after_bounded_tries(
    ask, reply, endpoint, monkeypatch
):
    down = reply(b'{"error": {"message": "down for the day"}}', status=503, headers={"retry-after": "0"})
    monkeypatch.setattr("evalkit.engine.attempts.MAX_RETRIES", 2)
    trial = only(ask(down))
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "HTTP 503: down for the day (asked 3 times)" in trial.error_message
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_asks_to_wait_for_hours_is_not_waited_for(ask, reply, endpoint):
    trial = only(ask(reply(b"{}", status=429, headers={"retry-after": "7200"})))
    assert trial.status == "unscored"
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_no_is_one_clear_error_and_never_asked_again(ask, reply, endpoint, status):
    no = reply(b'{"error": {"message": "the reason given"}}', status=status)
    run = ask(no, epochs=12)
    rows = run.rows()
    assert {trial.status for trial in rows} == {"unscored"}
    assert {trial.error_origin for trial in rows} == {"model"}
    assert all(f"HTTP {status}: the reason given" in trial.error_message for trial in rows)
    assert len(endpoint.requests) <= 12
    events = [step for _, found in run.iter_trials() for step in found if isinstance(step, Event)]
    assert {step.event for step in events} - {"planted"} == {"error"}


def test_a_wrong_key_is_not_tried_by_every_trial(ask, reply, endpoint):
    run = ask(reply(b'{"error": {"message": "bad key"}}', status=401), epochs=30, max_trials=1)
    assert len(run.rows()) == 30
    assert len(endpoint.requests) == 1


def test_a_context_that_is_full_ends_the_trial_and_is_judged(ask, said, reply):
    full = {
        "error": {
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        }
    }
    run = ask(said(None, WRITE), reply(json.dumps(full).encode(), status=400))
    trial = only(run)
    assert (trial.status, trial.stop_reason) == ("passed", "context_limit")
    assert trial.model_calls == 1, "nothing was generated, and nothing is counted"
    assert (trial.input_tokens, trial.output_tokens) == (100, 20)
    event = [one for one in steps(run, Event) if one.event != "planted"][-1]
    assert "maximum context length" in json.loads(event.detail)["message"]


def test_settings_go_out_and_are_part_of_the_agent(ask, said, endpoint):
    run = ask(said(None, WRITE), said(None, SUBMIT), temperature=0.25, seed=7, max_tokens=99)
    sent = endpoint.requests[0].json
    assert (sent["temperature"], sent["seed"]) == (0.25, 7)
    assert sent.get("max_tokens") == 99
    trial = only(run)
    assert (trial.temperature, trial.seed) == (0.25, 7)
    assert trial.agent == f"react/{MODEL}@temperature:0.25@seed:7@max_tokens:99"


def test_nothing_is_sent_that_was_not_asked_for(ask, said, endpoint):
    ask(said(None, WRITE), said(None, SUBMIT))
    assert set(endpoint.requests[0].json) == {"model", "messages", "tools"}


def test_a_key_is_sent_and_never_stored(ask, said, reply, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "plain-words-as-a-key")
    echo = reply(b'{"error": {"message": "the key plain-words-as-a-key is odd"}}', status=500)
    run = ask(echo, said("My key is plain-words-as-a-key.", WRITE), said(None, SUBMIT))
    assert endpoint.requests[0].headers["authorization"] == "Bearer plain-words-as-a-key"
    stored = [path.read_bytes() for path in Path(run.path).rglob("*") if path.is_file()]
    assert stored
    assert not any(b"plain-words-as-a-key" in content for content in stored)


def test_nobody_elses_key_goes_to_a_server_that_may_be_anyones(ask, said, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    ask(said(None, WRITE), said(None, SUBMIT))
    assert "sk-of-openai" not in str(endpoint.requests[0].headers)


def test_a_missing_key_is_named_before_anything_runs(make_suite, run_suite, tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY \(for openai/gpt-5\); ANTHROPIC_API_KEY"):
        run_suite(make_suite(), "openai/gpt-5", "anthropic/claude-sonnet-4-5")
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_cut_short_asks_the_same_endpoint_again(ask, said, reply, endpoint):
    from evalkit.engine.start import resume

    run = ask(reply(b"{}", status=401))
    assert only(run).status == "unscored"
    endpoint(said(None, WRITE), said(None, SUBMIT))
    resume(Path(run.path), _Silent())
    trial = only(load(run.path))
    assert (trial.status, trial.attempt) == ("passed", 2)


class _Silent:
    def planned(self, total): ...
    def started(self, planned): ...
    def stepped(self, planned, step): ...
    def finished(self, planned, trial): ...


@pytest.mark.parametrize(
    "odd",
    [
        "a lone \ud800 surrogate",
        "a \x00 zero byte",
        "\x1b[2J an escape",
        "\ufffe\uffff",
        "🏴‍☠️ and 漢字",
        "x" * 200_000,
    ],
)
def test_whatever_a_model_writes_the_trial_goes_on(ask, said, endpoint, odd):
    call = ("bash", json.dumps({"command": f"printf %s '{odd[:50]}' > odd; echo done > out"}))
    run = ask(said(odd, call, reasoning_content=odd), said(odd), said(None, WRITE), said(None, SUBMIT))
    assert only(run).status == "passed"
    assert len(endpoint.requests) == 4
    endpoint.requests[3].body.decode()


def test_a_tool_name_that_no_endpoint_takes_back_is_made_one_that_it_does(ask, said, endpoint):
    run = ask(said(None, ("bash<|channel|>json", '{"command": "ls"}')), said(None, WRITE), said(None, SUBMIT))
    act = steps(run, Act)[0]
    assert act.tool == "bash<|channel|>json"
    assert act.error_kind == "parsing"
    sent = endpoint.requests[1].json["messages"]
    assert sent[2]["tool_calls"][0]["function"]["name"] == "bash__channel__json"
    assert only(run).status == "passed"


@pytest.mark.parametrize("empty", [None, ""])
def test_an_answer_without_anything_in_it_goes_back_as_one_that_endpoints_take(ask, said, endpoint, empty):
    ask(said(empty), said(None, WRITE), said(None, SUBMIT))
    sent = endpoint.requests[1].json["messages"]
    assert sent[2] == {"role": "assistant", "content": "(no content)"}


def test_an_endpoint_that_never_stops_talking_is_cut_off(ask, said, monkeypatch):
    monkeypatch.setattr("evalkit.models.wiretap.LONGEST_ANSWER", 10_000)
    trial = only(ask(said("x" * 50_000)))
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "longer than" in trial.error_message


def test_a_server_that_nobody_is_at_is_given_up_for_the_whole_run(ask, said, endpoint, monkeypatch):
    monkeypatch.setattr("evalkit.engine.attempts.RetryWait.__call__", lambda self, state: 0.001)
    endpoint.close()
    rows = ask(said("nobody hears this"), epochs=30).rows()
    assert len(rows) == 30
    assert all("could not be reached" in trial.error_message for trial in rows)
    assert sum("asked" not in trial.error_message for trial in rows) > 10, (
        "asked no more, once nobody was there"
    )


def test_what_inspects_own_provider_tries_again_by_itself_is_told_too(
    make_suite, run_suite, endpoint, reply, said, monkeypatch
):
    monkeypatch.setenv("TEST_API_KEY", "key-for-the-test")
    busy = reply(b'{"error": {"message": "slow down"}}', status=429, headers={"retry-after": "1"})
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    endpoint(busy, said(None, WRITE, usage=usage), said(None, SUBMIT, usage=usage))
    run = run_suite(make_suite(), "inspect/openai-api/test/tiny", base_url=endpoint.url)
    trial, first = only(run), steps(run, Think)[0]
    assert trial.status == "passed"
    assert first.retries == 1
    assert first.duration_s < 1.0 < trial.retry_s
    assert (trial.input_tokens, trial.output_tokens) == (200, 40)
    (event,) = [step for step in steps(run, Event) if step.event == "retry"]
    assert json.loads(event.detail)["times"] == 1


def test_a_key_that_an_endpoint_gives_back_in_any_spelling_is_never_stored(ask, said, reply, monkeypatch):
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "plain/words-as-a-key")
    spelt = "plain\\/words\\u002das-a-key"
    strange = reply(f"<html>{'plain/words-as-a-key'}</html>".encode(), content_type="text/html")
    error = reply(f'{{"error": {{"message": "{spelt}"}}}}'.encode(), status=500)
    answer = said("KEY", WRITE, model="KEY")
    answer.body = answer.body.replace(b"KEY", spelt.encode())
    run = ask(strange, error, answer, said(None, SUBMIT))
    assert only(run).status == "passed"
    stored = [path.read_bytes() for path in Path(run.path).rglob("*") if path.is_file()]
    assert not any(b"words-as-a-key" in content for content in stored)
    _, found = run.trial(only(run).trial_id)
    assert "words-as-a-key" not in repr((only(run), found))


def test_what_answers_that_came_to_nothing_have_cost_is_counted(ask, said, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    empty = said("x", usage=usage)
    empty.body = json.dumps({**json.loads(empty.body), "choices": []}).encode()
    answers = [said(None, WRITE, usage=usage), said(None, SUBMIT, usage=usage)]
    whole = only(ask(empty, *answers, model="openai/gpt-4o-mini", base_url=None, out="counted")).cost_usd
    plain = only(ask(*answers, model="openai/gpt-4o-mini", base_url=None, out="plain")).cost_usd
    assert whole == pytest.approx(plain * 1.5)
    cut = said(None, WRITE, usage=usage)
    cut.cut_after = 30
    assert only(ask(cut, *answers, model="openai/gpt-4o-mini", base_url=None, out="cut")).cost_usd is None
