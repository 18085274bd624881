"""The agent's time limit stands still while what it waits for is not its doing."""

from __future__ import annotations

import anyio
import pytest

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.litellm_model import LitellmModel
from evalkit.models.failure import Cause, EndpointFailure

pytestmark = pytest.mark.anyio


async def test_what_takes_longer_than_the_limit_is_ended():
    clock = AgentClock(0.05)
    with clock.running():
        await anyio.sleep(5)
        pytest.fail("the limit did not end it")
    assert clock.expired


async def test_what_is_done_in_time_is_not_ended():
    clock = AgentClock(5)
    with clock.running():
        await anyio.sleep(0.01)
    assert not clock.expired


async def test_no_limit_is_no_limit():
    clock = AgentClock(None)
    with clock.running():
        clock.stop()
        clock.go_on()
        await anyio.sleep(0.01)
    assert not clock.expired


async def test_time_in_which_it_stands_still_does_not_count():
    clock = AgentClock(0.3)
    with clock.running():
        clock.stop()
        await anyio.sleep(0.6)
        clock.go_on()
    assert not clock.expired
    assert clock.excused_s == pytest.approx(0.6, abs=0.25)


async def test_it_goes_on_where_it_stood():
    clock = AgentClock(0.2)
    with clock.running():
        clock.stop()
        await anyio.sleep(0.4)
        clock.go_on()
        await anyio.sleep(5)
        pytest.fail("the limit did not end it")
    assert clock.expired


async def test_time_that_turns_out_not_to_count_is_given_back():
    clock = AgentClock(0.5)
    with clock.running():
        await anyio.sleep(0.3)
        clock.stop(for_s=0.3)
        clock.go_on()
        await anyio.sleep(0.3)
    assert not clock.expired


@pytest.mark.parametrize(
    ("cause", "retried", "kind"),
    [
        (Cause(429, retryable=True, retry_after_s=3.0), True, "rate_limit"),
        (Cause(503, retryable=True), True, "transient"),
        (Cause(None, retryable=True), True, "transient"),
        (Cause(429, retryable=True, retry_after_s=7200.0), False, None),
        (Cause(400, retryable=False), False, None),
    ],
)
async def test_which_failures_are_tried_again_and_slow_inspects_concurrency_down(cause, retried, kind):
    model = LitellmModel("openai-compatible/x", "http://127.0.0.1:9/v1")
    decision = model.should_retry(EndpointFailure("no", cause))
    assert bool(decision) is retried
    if retried:
        assert (decision.kind, decision.retry_after) == (kind, cause.retry_after_s)
