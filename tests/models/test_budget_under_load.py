"""However many calls there are, and whoever is cancelled, no limit is passed and nobody waits for ever."""

from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
from anyio.lowlevel import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.models.budget import Budget, Purses, Spent
from evalkit.models.prices import affordable_output_tokens, cost_usd, worst_case_usd
from evalkit.models.rates import Price, Rates, Tier
from evalkit.models.usage import Usage


@dataclass(frozen=True)
class Call:
    trial: int
    wanted: float
    least_part: float
    cost_part: float | None
    steps: int
    cancelled: bool


money = st.integers(0, 3 * 10**9).map(lambda nano: nano / 10**9)
part = st.floats(0, 1)
plans = st.lists(
    st.builds(
        Call,
        trial=st.integers(0, 2),
        wanted=money,
        least_part=part,
        cost_part=st.none() | part,
        steps=st.integers(0, 3),
        cancelled=st.booleans(),
    ),
    max_size=25,
)


@settings(max_examples=150)
@given(plans, st.none() | money, st.lists(st.none() | money, min_size=3, max_size=3))
def test_no_limit_is_passed_and_nobody_waits_for_ever(plan, run_limit, trial_limits):
    run = Budget(run_limit)
    trials = [Budget(limit) for limit in trial_limits]
    everyone = (run, *trials)

    def check():
        for purse in everyone:
            if purse.limit_usd is not None:
                assert purse.realised_at_most_usd + purse.reserved_usd <= purse.limit_usd + 1e-12

    async def make(call):
        least = call.wanted * call.least_part
        with anyio.CancelScope() as scope:
            try:
                async with Purses(trial=trials[call.trial], run=run).reserve(call.wanted, least) as grant:
                    check()
                    assert grant.usd <= call.wanted
                    assert grant.usd >= least - 1e-9
                    for _ in range(call.steps):
                        await checkpoint()
                    if call.cancelled:
                        scope.cancel()
                        await checkpoint()
                    grant.settle(None if call.cost_part is None else grant.usd * call.cost_part)
            except Spent as spent:
                purse = run if spent.which == "run" else trials[call.trial]
                assert purse.limit_usd is not None
                assert purse.limit_usd - purse.realised_at_most_usd < least + 1e-8
        check()

    async def everything():
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for call in plan:
                    tasks.start_soon(make, call)

    anyio.run(everything)
    assert [purse.reserved_usd for purse in everyone] == [0.0] * 4
    for purse in everyone:
        assert purse.limit_usd is None or purse.realised_at_most_usd <= purse.limit_usd


@settings(max_examples=50)
@given(plans, money, st.integers(0, 24), st.integers(0, 5))
def test_waiters_can_be_cancelled_at_any_time(plan, limit, victim, after):
    run = Budget(limit)

    async def make(call):
        try:
            async with Purses(trial=Budget(None), run=run).reserve(call.wanted) as grant:
                for _ in range(call.steps):
                    await checkpoint()
                grant.settle(grant.usd * (call.cost_part or 0))
        except Spent:
            pass

    async def cancelled(call):
        with anyio.move_on_after(20) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(make, call)
                for _ in range(after):
                    await checkpoint()
                scope.cancel()

    async def everything():
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for index, call in enumerate(plan):
                    tasks.start_soon(cancelled if index == victim else make, call)

    anyio.run(everything)
    assert run.reserved_usd == 0.0
    assert run.realised_at_most_usd <= limit


@given(
    st.integers(1, 10**5).map(lambda nano: float(f"{nano}e-9")),
    st.integers(0, 10**5),
    st.integers(1, 10**5),
    st.integers(1, 10**10).map(lambda nano: nano / 10**9),
)
def test_a_call_lowered_to_its_grant_fits_into_it(rate, size, limit, left):
    rates = Rates(
        input=rate, cache_read=rate, cache_write=rate, cache_write_dearest=rate, output=rate, reasoning=rate
    )
    price = Price(entry="m", source="list", tiers=(Tier(above_tokens=0, rates=rates),))

    async def spend():
        run = Budget(left)
        wanted, least = worst_case_usd(price, size, limit), worst_case_usd(price, size, 1)
        try:
            async with Purses(trial=Budget(None), run=run).reserve(wanted, least) as grant:
                tokens = min(limit, affordable_output_tokens(price, size, grant.usd))
                assert tokens >= 1
                usage = Usage(input_tokens=size + 1_000, output_tokens=tokens)
                grant.settle(cost_usd(price, usage, at=datetime.now(UTC)))
        except Spent:
            assert least > left
        assert run.realised_at_most_usd <= left

    anyio.run(spend)
