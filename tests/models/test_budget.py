"""No call spends what another may still need, and no limit is passed."""

from dataclasses import dataclass

import anyio
import pytest

from evalkit.models.budget import Budget, Grant, Purses, Spent

pytestmark = pytest.mark.anyio


def purses(trial=None, run=None, *, spent=0.0):
    return Purses(trial=Budget(trial), run=Budget(run, realised_usd=spent))


@dataclass
class Holder:
    """A call in flight, which ends when it is told to."""

    purses: Purses
    wanted: float
    least: float = 0.0
    cost: float | None = None
    grant: Grant | None = None

    def __post_init__(self):
        self.done = anyio.Event()

    async def run(self):
        async with self.purses.reserve(self.wanted, self.least) as self.grant:
            await self.done.wait()
            self.grant.settle(self.cost)


async def test_a_call_reserves_its_worst_case_and_settles_with_its_cost():
    run, trial = Budget(1.0), Budget(0.5)
    async with Purses(trial=trial, run=run).reserve(0.3) as grant:
        assert grant.usd == trial.reserved_usd == run.reserved_usd == 0.3
        grant.settle(0.1)
    for purse in (run, trial):
        assert (purse.realised_at_most_usd, purse.reserved_usd) == (0.1, 0.0)


@pytest.mark.parametrize(("trial", "run", "left"), [(0.2, 1.0, 0.2), (1.0, 0.2, 0.2), (None, 0.2, 0.2)])
async def test_what_is_left_is_granted_where_that_is_less_than_wanted(trial, run, left):
    async with purses(trial, run).reserve(0.3, 0.1) as grant:
        assert grant.usd == left


@pytest.mark.parametrize(
    ("trial", "run", "which"), [(0.2, 1.0, "trial"), (1.0, 0.2, "run"), (0.2, 0.2, "run")]
)
async def test_too_little_is_refused_by_the_name_of_the_limit(trial, run, which):
    both = purses(trial, run)
    async with both.reserve(0.15) as grant:
        grant.settle(0.15)
    with pytest.raises(Spent, match=f"the {which}'s cost limit of \\$0.2 is spent: \\$0.15 so far") as caught:
        async with both.reserve(0.3, 0.06):
            pass
    assert (caught.value.which, caught.value.limit_usd, caught.value.realised_usd) == (which, 0.2, 0.15)


async def test_a_resumed_run_goes_on_with_what_it_has_spent():
    async with purses(run=1.0, spent=0.75).reserve(0.5) as grant:
        assert grant.usd == 0.25


async def test_without_limits_everything_is_granted_and_counted():
    run = Budget(None)
    async with Purses(trial=Budget(None), run=run).reserve(1e6) as grant:
        grant.settle(2.5)
    assert (run.limit_usd, run.realised_at_most_usd) == (None, 2.5)


@pytest.mark.parametrize("cost", [None, float("nan"), float("inf"), -1.0])
async def test_a_call_of_unknown_cost_counts_with_all_that_it_reserved(cost):
    run = Budget(1.0)
    async with Purses(trial=Budget(None), run=run).reserve(0.3) as grant:
        grant.settle(cost)
    assert run.realised_at_most_usd == 0.3


async def test_a_call_that_breaks_without_a_word_counts_with_all_that_it_reserved():
    run = Budget(1.0)
    with pytest.raises(ConnectionError):
        async with Purses(trial=Budget(None), run=run).reserve(0.3):
            raise ConnectionError
    assert (run.realised_at_most_usd, run.reserved_usd) == (0.3, 0.0)


async def test_a_call_that_was_not_billed_gives_everything_back():
    run = Budget(1.0)
    async with Purses(trial=Budget(None), run=run).reserve(0.3) as grant:
        grant.not_billed()
    assert (run.realised_at_most_usd, run.reserved_usd) == (0.0, 0.0)


async def test_a_grant_is_settled_once():
    async with purses().reserve(0.3) as grant:
        grant.settle(0.1)
        with pytest.raises(RuntimeError, match="settled already"):
            grant.settle(0.1)


async def test_an_overcharge_is_recorded_and_ends_the_spending():
    run = Budget(1.0)
    both = Purses(trial=Budget(None), run=run)
    async with both.reserve(0.3) as grant:
        grant.settle(1.75)
    assert run.realised_at_most_usd == 1.75
    with pytest.raises(Spent, match=r"limit of \$1 is spent: \$1.75 so far"):
        async with both.reserve(0.0):
            pass


async def test_a_free_call_needs_no_money():
    async with purses(0.0, 0.0).reserve(0.0) as grant:
        assert grant.usd == 0.0


@pytest.mark.parametrize("amount", [-0.1, float("nan"), float("inf")])
async def test_only_an_amount_of_money_can_be_reserved(amount):
    with pytest.raises(ValueError, match="no amount of money"):
        async with purses(run=1.0).reserve(amount):
            pass


async def test_a_call_waits_while_only_others_in_flight_stand_in_its_way():
    run = Budget(1.0)
    first = Holder(Purses(trial=Budget(None), run=run), 0.8, cost=0.1)
    second = Holder(Purses(trial=Budget(None), run=run), 0.7, cost=0.7)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(second.run)
        await anyio.wait_all_tasks_blocked()
        assert second.grant is None
        first.done.set()
        await anyio.wait_all_tasks_blocked()
        assert second.grant is not None
        assert second.grant.usd == 0.7
        second.done.set()
    assert run.realised_at_most_usd == 0.8


async def test_a_call_that_waited_gets_what_the_others_left():
    run = Budget(1.0)
    first = Holder(Purses(trial=Budget(None), run=run), 0.8, cost=0.6)
    second = Holder(Purses(trial=Budget(None), run=run), 0.7)
    async with anyio.create_task_group() as tasks:
        for holder in (first, second):
            tasks.start_soon(holder.run)
            await anyio.wait_all_tasks_blocked()
        first.done.set()
        await anyio.wait_all_tasks_blocked()
        assert second.grant is not None
        assert second.grant.usd == 0.4
        second.done.set()


async def test_a_call_that_waited_in_vain_is_refused():
    run = Budget(1.0)
    first = Holder(Purses(trial=Budget(None), run=run), 0.8, cost=0.8)
    refusals = []

    async def second():
        try:
            async with Purses(trial=Budget(None), run=run).reserve(0.7, 0.5):
                raise AssertionError
        except Spent as spent:
            refusals.append(spent.which)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        assert refusals == []
        first.done.set()
    assert refusals == ["run"]


async def test_waiting_for_one_purse_holds_nothing_of_the_other():
    run, mine, other = Budget(1.0), Budget(0.5), Budget(None)
    first = Holder(Purses(trial=mine, run=run), 0.4, cost=0.0)
    second = Holder(Purses(trial=mine, run=run), 0.5, cost=0.0)
    third = Holder(Purses(trial=other, run=run), 0.6, cost=0.0)
    async with anyio.create_task_group() as tasks:
        for holder in (first, second, third):
            tasks.start_soon(holder.run)
            await anyio.wait_all_tasks_blocked()
        assert second.grant is None
        assert third.grant is not None
        assert run.reserved_usd == 1.0
        for holder in (first, second, third):
            holder.done.set()
    assert (run.reserved_usd, mine.reserved_usd, other.reserved_usd) == (0.0, 0.0, 0.0)


async def test_a_large_call_is_not_overtaken_for_ever_by_small_ones():
    run = Budget(1.0)
    small = [Holder(Purses(trial=Budget(None), run=run), 0.3, cost=0.0) for _ in range(3)]
    large = Holder(Purses(trial=Budget(None), run=run), 0.9, cost=0.0)
    late = Holder(Purses(trial=Budget(None), run=run), 0.1, cost=0.0)
    async with anyio.create_task_group() as tasks:
        for holder in (*small, large, late):
            tasks.start_soon(holder.run)
            await anyio.wait_all_tasks_blocked()
        assert large.grant is None
        assert late.grant is None
        for holder in small:
            holder.done.set()
        await anyio.wait_all_tasks_blocked()
        assert large.grant is not None
        assert late.grant is not None
        large.done.set()
        late.done.set()


async def test_a_call_that_now_waits_for_its_trial_alone_lets_others_have_the_run_s_money():
    run, mine = Budget(1.0), Budget(0.4)
    shared = Holder(Purses(trial=Budget(None), run=run), 0.6, cost=0.0)
    own = Holder(Purses(trial=mine, run=run), 0.4, cost=0.0)
    blocked = Holder(Purses(trial=mine, run=run), 0.4, cost=0.0)
    late = Holder(Purses(trial=Budget(None), run=run), 0.5, cost=0.0)
    async with anyio.create_task_group() as tasks:
        for holder in (shared, own, blocked, late):
            tasks.start_soon(holder.run)
            await anyio.wait_all_tasks_blocked()
        shared.done.set()
        await anyio.wait_all_tasks_blocked()
        assert blocked.grant is None
        assert late.grant is not None
        for holder in (own, blocked, late):
            holder.done.set()


async def test_a_free_call_never_waits():
    run = Budget(1.0)
    first = Holder(Purses(trial=Budget(None), run=run), 1.0, cost=0.0)
    second = Holder(Purses(trial=Budget(None), run=run), 0.5, cost=0.0)
    async with anyio.create_task_group() as tasks:
        for holder in (first, second):
            tasks.start_soon(holder.run)
            await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(2):
            async with Purses(trial=Budget(None), run=run).reserve(0.0) as grant:
                assert grant.usd == 0.0
        first.done.set()
        second.done.set()


async def test_fractions_of_a_nano_dollar_are_never_in_the_caller_s_favour():
    run = Budget(2.5e-9)
    async with Purses(trial=Budget(None), run=run).reserve(1.0) as grant:
        assert grant.usd == 2e-9
        grant.settle(0.5e-9)
    assert run.realised_at_most_usd == 1e-9


async def test_a_cancelled_waiter_leaves_no_trace_and_lets_the_next_one_in():
    run = Budget(1.0)
    first = Holder(Purses(trial=Budget(None), run=run), 0.8, cost=0.0)
    large = Holder(Purses(trial=Budget(None), run=run), 0.9)
    late = Holder(Purses(trial=Budget(None), run=run), 0.1, cost=0.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run)
        await anyio.wait_all_tasks_blocked()
        async with anyio.create_task_group() as cancelled:
            cancelled.start_soon(large.run)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(late.run)
            await anyio.wait_all_tasks_blocked()
            assert late.grant is None
            cancelled.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()
        assert late.grant is not None
        first.done.set()
        late.done.set()
    assert (run.realised_at_most_usd, run.reserved_usd) == (0.0, 0.0)


async def test_a_cancelled_call_may_have_been_billed():
    run = Budget(1.0)
    holder = Holder(Purses(trial=Budget(None), run=run), 0.8)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(holder.run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert (run.realised_at_most_usd, run.reserved_usd) == (0.8, 0.0)


async def test_ten_thousand_dimes_are_a_thousand_dollars():
    run = Budget(1_000.0)
    both = Purses(trial=Budget(None), run=run)
    for _ in range(10_000):
        async with both.reserve(0.1, 0.1) as grant:
            grant.settle(0.1)
    assert run.realised_at_most_usd == 1_000.0
    with pytest.raises(Spent):
        async with both.reserve(0.1, 1e-9):
            pass
