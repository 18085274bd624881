"""How many trials run at the same time: properties of the decision, and trials that wait for room."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.engine.capacity import (
    MIB,
    SANDBOX_BYTES,
    Bounds,
    Capacity,
    Observation,
    bounds_of,
    make_capacity,
    next_number,
)
from evalkit.engine.machine import Machine, Meter, Reading, this_machine
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import UsageError

GIB = 1024 * MIB
ROOMY = Machine(processors=4, memory_bytes=64 * GIB, open_files=20_000)

machines = st.builds(
    Machine,
    processors=st.integers(1, 512),
    memory_bytes=st.none() | st.integers(64 * MIB, 2048 * GIB),
    open_files=st.integers(16, 2**20),
)
free = st.none() | st.integers(0, 2048 * GIB)
bounds = st.builds(bounds_of, machines, free)
observations = st.builds(
    Observation,
    running=st.integers(0, 300),
    waiting=st.integers(0, 5000),
    busy=st.none() | st.floats(0, 1),
    free_bytes=free,
    sandbox_bytes=st.integers(SANDBOX_BYTES, 64 * GIB),
)
numbers = st.integers(-5, 600)


@given(machines, free)
def test_the_bounds_are_in_order(machine: Machine, free_bytes: int | None) -> None:
    found = bounds_of(machine, free_bytes)
    assert 1 <= found.floor <= found.first <= found.ceiling <= 256


@given(numbers, observations, bounds)
def test_the_number_stays_between_one_and_the_ceiling(number: int, seen: Observation, limits: Bounds) -> None:
    assert 1 <= next_number(number, seen, limits) <= limits.ceiling


@given(numbers, observations, bounds, st.integers(0, 2048 * GIB), st.integers(0, 2048 * GIB))
def test_more_free_memory_never_means_fewer_trials(
    number: int, seen: Observation, limits: Bounds, one: int, other: int
) -> None:
    less, more = (
        next_number(number, replace(seen, free_bytes=amount), limits) for amount in sorted([one, other])
    )
    assert less <= more


@given(numbers, observations, bounds, st.floats(0, 1), st.floats(0, 1))
def test_busier_processors_never_mean_more_trials(
    number: int, seen: Observation, limits: Bounds, one: float, other: float
) -> None:
    idle, busy = (next_number(number, replace(seen, busy=share), limits) for share in sorted([one, other]))
    assert busy <= idle


@given(st.integers(1, 256), observations, bounds)
def test_saturated_processors_let_it_grow_no_further(number: int, seen: Observation, limits: Bounds) -> None:
    assert next_number(number, replace(seen, busy=1.0), limits) <= number


@given(st.integers(2, 256), observations, bounds.filter(lambda limits: limits.reserve_bytes > 0))
def test_short_memory_lets_fewer_run_than_do(number: int, seen: Observation, limits: Bounds) -> None:
    number = min(number, limits.ceiling)
    short = replace(seen, free_bytes=limits.reserve_bytes - 1, running=number)
    assert next_number(number, short, limits) == number - max(1, number // 4) or number == 1


@given(st.integers(1, 256), observations, bounds)
def test_what_stays_the_same_is_decided_once_and_not_back_and_forth(
    number: int, seen: Observation, limits: Bounds
) -> None:
    path = [min(number, limits.ceiling)]
    for _ in range(40):
        path.append(next_number(path[-1], seen, limits))
    assert path in (sorted(path), sorted(path, reverse=True))
    assert path[-1] == path[-2]


@given(st.floats(0.001, 2), st.integers(1, 4096), st.integers(2, 64), st.integers(2, 512))
def test_a_load_that_follows_the_number_comes_to_rest(
    share: float, megabytes: int, processors: int, gigabytes: int
) -> None:
    """Each trial takes its share of one processor and its memory: after some looks nothing changes any more."""
    machine = Machine(processors=processors, memory_bytes=gigabytes * GIB, open_files=20_000)
    limits = bounds_of(machine, machine.memory_bytes)
    path = [limits.first]
    for _ in range(400):
        running = path[-1]
        seen = Observation(
            running=running,
            waiting=1000,
            busy=min(1.0, running * share / processors),
            free_bytes=max(0, gigabytes * GIB - running * megabytes * MIB),
            sandbox_bytes=max(SANDBOX_BYTES, megabytes * MIB),
        )
        path.append(next_number(running, seen, limits))
    assert len(set(path[-20:])) == 1


def test_trials_that_wait_for_a_model_make_room_for_many_more() -> None:
    limits = bounds_of(ROOMY, 60 * GIB)
    number = limits.first
    for _ in range(10):
        seen = Observation(number, 1000, 0.05, 60 * GIB, SANDBOX_BYTES)
        number = next_number(number, seen, limits)
    assert (limits.first, number) == (8, limits.ceiling) == (8, 64)


def test_nothing_grows_while_nobody_waits() -> None:
    limits = bounds_of(ROOMY, 60 * GIB)
    assert next_number(8, Observation(8, 0, 0.05, 60 * GIB, SANDBOX_BYTES), limits) == 8


def test_a_machine_that_does_not_say_how_busy_it_is_keeps_its_first_number() -> None:
    limits = bounds_of(ROOMY, None)
    assert next_number(8, Observation(8, 1000, None, None, SANDBOX_BYTES), limits) == 8


def test_few_open_files_bound_the_trials() -> None:
    assert bounds_of(replace(ROOMY, open_files=256), None).ceiling == 8


class Still(Meter):
    """A machine on which nothing else happens: this much memory, idle processors."""

    def __init__(self, free_bytes: int) -> None:
        super().__init__(own_limits=False)
        self.free = free_bytes

    def read(self) -> Reading:
        return Reading(0.0, self.free)

    def free_bytes(self) -> int:
        return self.free


async def _most_at_once(capacity: Capacity, *asked_mb: int | None) -> int:
    inside = most = 0

    async def trial(memory_mb: int | None) -> None:
        nonlocal inside, most
        async with capacity.slot(memory_mb):
            inside += 1
            most = max(most, inside)
            await anyio.sleep(0.01)
            inside -= 1

    with anyio.fail_after(30):
        async with anyio.create_task_group() as trials:
            for memory_mb in asked_mb:
                trials.start_soon(trial, memory_mb)
    return most


@pytest.mark.anyio
async def test_a_number_that_was_asked_for_is_kept_whatever_memory_there_is() -> None:
    capacity = make_capacity(3, "local")
    assert capacity.ceiling == 3
    assert await _most_at_once(capacity, *[10**9] * 9) == 3


@pytest.mark.anyio
async def test_sandboxes_that_do_not_fit_together_wait_for_each_other() -> None:
    capacity = Capacity(Bounds(8, 8, 8, 0), Still(10 * GIB))
    assert await _most_at_once(capacity, *[4096] * 6) == 2


@pytest.mark.anyio
async def test_a_sandbox_larger_than_what_is_free_runs_alone() -> None:
    capacity = Capacity(Bounds(8, 8, 8, 0), Still(2 * GIB))
    assert await _most_at_once(capacity, 4096, 4096, None) == 1


@pytest.mark.anyio
async def test_an_interrupted_wait_for_memory_keeps_nothing() -> None:
    capacity = Capacity(Bounds(8, 8, 8, 0), Still(4 * GIB))

    async def second() -> None:
        async with capacity.slot(3072):
            pytest.fail("there is no room for two")

    async with capacity.slot(3072), anyio.create_task_group() as impatient:
        impatient.start_soon(second)
        await anyio.sleep(0.05)
        impatient.cancel_scope.cancel()
    assert await _most_at_once(capacity, 3072, 1024) == 2


@pytest.mark.anyio
async def test_the_number_follows_the_machine_while_trials_wait() -> None:
    capacity = Capacity(Bounds(2, 2, 12, 0), Still(32 * GIB), period_s=0.01)
    done = anyio.Event()

    async def trial() -> None:
        async with capacity.slot(None):
            await done.wait()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as trials:
            for _ in range(20):
                trials.start_soon(trial)
            while capacity.number < 12:
                await anyio.sleep(0.01)
            done.set()


def _tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\n"}


def test_the_limit_of_a_control_group_counts_before_the_machines_memory(tmp_path: Path) -> None:
    version_2 = {
        "proc/self/cgroup": "0::/box/inner\n",
        "sys/fs/cgroup/box/memory.max": str(4 * GIB),
        "sys/fs/cgroup/box/memory.current": str(3 * GIB),
        "sys/fs/cgroup/box/memory.stat": f"anon 1\ninactive_file {GIB}\n",
        "sys/fs/cgroup/box/inner/memory.max": "max",
    }
    root = _tree(tmp_path, MEMINFO | version_2)
    assert this_machine(own_limits=True, root=root).memory_bytes == 4 * GIB
    assert Meter(own_limits=True, root=root).free_bytes() == 2 * GIB


def test_control_groups_of_version_1_are_read_from_their_own_mounts(tmp_path: Path) -> None:
    version_1 = {
        "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(GIB),
        "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 0\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    root = _tree(tmp_path, MEMINFO | version_1)
    machine = this_machine(own_limits=True, root=root)
    assert (machine.processors, machine.memory_bytes) == (1, 2 * GIB)
    assert Meter(own_limits=True, root=root).free_bytes() == GIB


def test_containers_of_an_engine_lie_outside_our_memory_limit(tmp_path: Path) -> None:
    limited = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": str(GIB)}
    root = _tree(tmp_path, MEMINFO | limited)
    assert this_machine(own_limits=False, root=root).memory_bytes == 16 * GIB
    assert Meter(own_limits=False, root=root).free_bytes() == 8 * GIB


def test_a_machine_without_proc_says_what_it_does_not_know(tmp_path: Path) -> None:
    assert this_machine(own_limits=True, root=tmp_path).memory_bytes is None
    assert Meter(own_limits=True, root=tmp_path).free_bytes() is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux says which processors are ours")
def test_how_busy_it_was_is_the_share_since_the_look_before(tmp_path: Path) -> None:
    processor = min(os.sched_getaffinity(0))
    line = "cpu{0} {1} 0 0 {2} 0 0 0 0 0 0\n"
    root = _tree(tmp_path, {"proc/stat": "cpu 9 9 9 9\n" + line.format(processor, 100, 100)})
    meter = Meter(own_limits=True, root=root)
    first = meter.read()
    _tree(tmp_path, {"proc/stat": line.format(processor, 190, 110)})
    anyio.run(anyio.sleep, 0.2)
    assert (first.busy, meter.read().busy) == (None, 0.9)


def test_a_task_that_could_never_begin_is_refused_before_the_run(make_suite, tmp_path: Path) -> None:
    toml = 'schema_version = "1.4"\n[environment]\nmemory_mb = 900000000\nnetwork_mode = "no-network"\n'
    suite = make_suite(one={"task.toml": toml})
    with pytest.raises(UsageError, match=r"task 'one' asks for 900000000 MB of memory, and this machine has"):
        prepare(RunFlags(suites=(str(suite),), out=tmp_path / "run"))


def test_without_max_trials_the_run_says_that_the_number_is_adaptive(make_suite, run_suite) -> None:
    run = run_suite(make_suite())
    assert run.manifest.settings["max_trials"] is None
    assert [trial.status for trial in run.rows()] == ["passed"]
