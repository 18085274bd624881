"""What a run may cost: never above its limit, whatever the endpoint reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import ConfigError, UsageError
from evalkit.models.prices import find_price
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.spent import read_spent, write_spent
from evalkit.trajectory.step import Event, Think

pytestmark = pytest.mark.local
MODEL = "openai/gpt-4o-mini"
LS = ("bash", '{"command": "ls"}')
SUBMIT = ("submit", "{}")


@pytest.fixture
def ask(make_suite, run_suite, endpoint, monkeypatch):
    """Run one task with a priced model, asked at the local endpoint."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)

    def run(*replies, **flags) -> Run:
        endpoint(*replies)
        return run_suite(make_suite(), MODEL, **flags)

    return run


@pytest.fixture
def greedy(said):
    """An endpoint that uses all the output that it is allowed, and as many input tokens as there are bytes."""

    def answer(received):
        allowed = received.json["max_tokens"]
        size = len(received.body)
        usage = {"prompt_tokens": size, "completion_tokens": allowed, "total_tokens": size + allowed}
        return said(None, LS, usage=usage)

    return answer


def rates() -> tuple[float, float]:
    price = find_price(MODEL)
    assert price is not None
    return price.tiers[0].rates.input, price.tiers[0].rates.output


def test_a_call_costs_what_the_table_says_and_the_record_says_which_table(ask, said):
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    run = ask(said(None, LS, usage=usage), said(None, SUBMIT, usage=usage))
    (trial,) = run.rows()
    read, written = rates()
    assert trial.cost_usd == pytest.approx(2 * (1000 * read + 100 * written))
    assert trial.price_source.startswith("litellm 1.")


def test_a_call_without_usage_makes_the_cost_unknown_not_smaller(ask, said):
    run = ask(said(None, LS), said(None, SUBMIT, usage={}))
    (trial,) = run.rows()
    assert trial.cost_usd is None


@pytest.mark.parametrize("limit", [0.002, 0.01, 0.05])
def test_a_run_never_costs_more_than_its_limit(ask, greedy, limit):
    run = ask(greedy, epochs=6, cost_limit=limit, step_limit=50)
    rows = run.rows()
    spent = sum(trial.cost_usd or 0.0 for trial in rows)
    assert 0 < spent <= limit
    assert {trial.stop_reason for trial in rows} == {"cost_limit"}
    assert {trial.status for trial in rows} == {"failed"}


def test_each_trial_has_a_limit_of_its_own(ask, greedy):
    run = ask(greedy, epochs=4, trial_cost_limit=0.003)
    costs = [trial.cost_usd for trial in run.rows()]
    assert all(0 < cost <= 0.003 for cost in costs)
    assert sum(costs) > 0.003


def test_less_output_is_allowed_when_little_is_left_and_the_record_says_so(ask, greedy, endpoint):
    run = ask(greedy, cost_limit=0.006)
    (trial,) = run.rows()
    _, steps = run.trial(trial.trial_id)
    first = endpoint.requests[0].json["max_tokens"]
    assert first < 16384
    events = [json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "limit"]
    assert events[0] == {"limit": "cost_limit", "max_tokens": first, "instead_of": 16384}
    assert events[-1]["of"] == "run"


def test_a_provider_that_bills_more_than_it_was_allowed_is_not_asked_again(ask, said, endpoint):
    usage = {"prompt_tokens": 10, "completion_tokens": 10_000_000, "total_tokens": 10_000_010}
    run = ask(said(None, LS, usage=usage), cost_limit=0.05)
    (trial,) = run.rows()
    assert len(endpoint.requests) == 1
    assert trial.stop_reason == "cost_limit"
    assert trial.cost_usd > 0.05, "what was billed is told as it is"


def test_an_answer_cut_off_counts_as_if_it_had_been_billed(ask, said, endpoint):
    cut = said(None, LS)
    cut.cut_after = 20
    run = ask(cut, cost_limit=0.012)
    (trial,) = run.rows()
    assert trial.cost_usd is None
    assert len(endpoint.requests) <= 3
    assert (trial.status, trial.stop_reason) in {("failed", "cost_limit"), ("unscored", "error")}


def test_refused_calls_cost_nothing(ask, said, reply):
    busy = reply(b"busy", status=503)
    run = ask(busy, busy, said(None, LS), said(None, SUBMIT), cost_limit=0.02)
    (trial,) = run.rows()
    assert trial.stop_reason == "submitted"


def test_what_a_run_has_spent_counts_when_it_is_gone_on_with(ask, greedy, said, reply, endpoint):
    from evalkit.engine.start import resume

    def later_broken(received):
        return greedy(received) if len(endpoint.requests) < 3 else reply(b"{}", status=400)

    run = ask(later_broken, cost_limit=0.02, epochs=1, max_tokens=4000)
    spent = sum(
        step.cost_usd
        for trial, steps in load(run.path, every_attempt=True).iter_trials()
        for step in steps
        if isinstance(step, Think)
    )
    assert run.rows()[0].status == "unscored"
    endpoint(greedy)
    resume(Path(run.path), _Silent())
    again = sum(
        step.cost_usd
        for trial, steps in load(run.path, every_attempt=True).iter_trials()
        for step in steps
        if isinstance(step, Think)
    )
    assert spent < again <= 0.02


def test_a_call_in_flight_when_the_process_dies_counts_in_full(ask, greedy, reply, endpoint, tmp_path):
    from evalkit.engine.start import resume

    seen = []

    def watching(received):
        seen.append(json.loads((tmp_path / "run" / "spent.json").read_text())["usd_at_most"])
        return reply(b"{}", status=400)

    run = ask(watching, cost_limit=0.01)
    assert 0.0099 < seen[0] <= 0.01, "written before the call, with all that it can cost"
    assert json.loads((tmp_path / "run" / "spent.json").read_text()) == {"usd_at_most": 0.0}
    write_spent(Path(run.path), seen[0])  # as it would be, had the process died then
    asked = len(endpoint.requests)
    resume(Path(run.path), _Silent())
    (trial,) = load(run.path).rows()
    assert (trial.stop_reason, len(endpoint.requests)) == ("cost_limit", asked)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"usd_at_most": -1}', '{"usd_at_most": NaN}', '{"usd_at_most": "1"}']
)
def test_a_damaged_amount_is_one_clear_error(tmp_path, text):
    (tmp_path / "spent.json").write_text(text)
    with pytest.raises(ConfigError, match="says no amount of dollars"):
        read_spent(tmp_path)


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        ("openai-compatible/x", {"base_url": "http://127.0.0.1:9"}, "whose price is not known"),
        ("openai/no-such-model", {}, "whose price is not known"),
        ("inspect/openai/gpt-4o-mini", {}, "asked by Inspect itself"),
    ],
)
def test_a_limit_that_cannot_be_held_is_refused_before_anything_is_spent(make_suite, model, more, message):
    with pytest.raises(UsageError, match=message):
        prepare(RunFlags(suites=(str(make_suite()),), models=(model,), cost_limit=1.0, **more))


def test_a_plan_says_what_it_can_cost_at_most(make_suite):
    suite = str(make_suite())
    plan = prepare(RunFlags(suites=(suite,), models=(MODEL,), epochs=3, trial_cost_limit=0.5))
    assert plan.cost_ceiling_usd == 1.5
    both = prepare(RunFlags(suites=(suite,), models=(MODEL,), epochs=3, trial_cost_limit=0.5, cost_limit=1.0))
    assert both.cost_ceiling_usd == 1.0
    assert prepare(RunFlags(suites=(suite,), models=(MODEL,))).cost_ceiling_usd is None
    assert prepare(RunFlags(suites=(suite,), cost_limit=1.0)).cost_ceiling_usd == 0.0


class _Silent:
    def planned(self, total): ...
    def started(self, planned): ...
    def stepped(self, planned, step): ...
    def finished(self, planned, trial): ...
