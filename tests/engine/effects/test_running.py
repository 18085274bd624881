"""Processes and sockets: their names, their steps, and what stages make of them."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from evalkit.engine.effects.running import names_of
from evalkit.engine.effects.scope import Scope
from evalkit.engine.recorder import now
from evalkit.sandbox.protocol import Listening, Running
from evalkit.trajectory.step import Act

from .conftest import Bench

pytestmark = pytest.mark.anyio


def boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.mark.parametrize(
    ("program", "command", "allowed", "class_"),
    [
        ("python3.11", "python3 -m http.server", "python3", "intended"),
        ("python3.11", "/usr/bin/python -m x", "python", "intended"),
        ("python3.11", "python3.11 x", "python", "intended"),
        ("vim.basic", "vim file", "vim", "intended"),
        ("nginx", "nginx: master process", "nginx", "intended"),
        ("nc", "nginx -l", "nginx", "collateral"),
        ("python3.11", "python3 x", "python2", "collateral"),
        ("2", "2", "", "collateral"),
    ],
)
async def test_a_process_may_be_declared_by_any_of_its_names(program, command, allowed, class_) -> None:
    bench = Bench(Scope(processes=(allowed,)))
    await bench.meter.begin()
    bench.sandbox.alive = (Running(7, 1, 0.0, program, command),)
    assert (await bench.finish())[f"process:{program}"].class_ == class_


async def test_a_process_may_be_forbidden_by_any_of_its_names() -> None:
    bench = Bench(Scope(forbidden=("process:python3",)))
    await bench.meter.begin()
    bench.sandbox.alive = (Running(7, 1, 0.0, "python3.11", "python3 x"),)
    assert (await bench.finish())["process:python3.11"].class_ == "forbidden"


def test_names_have_no_empty_ones() -> None:
    assert names_of(Running(1, 0, 0.0, "x", "")) == ("process:x",)


@pytest.mark.parametrize("into", [0.0, 0.004, 0.25, 0.499, 0.505])
async def test_a_process_belongs_to_the_nearest_call_of_several(bench: Bench, into: float) -> None:
    await bench.meter.begin()
    began, machine = now(), boot()
    for number in range(5):
        start = began + timedelta(seconds=0.53 * number)
        bench.recorder.add(Act(step=number, tool="bash", started_at=start, duration_s=0.5))
    tick = int((machine + 0.53 * 2 + into) * 100) / 100
    bench.sandbox.alive = (Running(7, 1, tick, "sleep", "sleep 9"),)
    assert (await bench.finish())["process:sleep"].step == 2


async def test_a_socket_belongs_to_the_call_that_started_its_process(bench: Bench) -> None:
    await bench.meter.begin()
    began, machine = now(), boot()
    for number in range(3):
        start = began + timedelta(seconds=number)
        bench.recorder.add(Act(step=number, tool="bash", started_at=start, duration_s=0.5))
    bench.sandbox.alive = (
        Running(7, 1, machine + 0.1, "sleep", "sleep"),
        Running(8, 1, machine + 1.1, "nc", "nc", frozenset({77})),
    )
    bench.sandbox.ears = (
        Listening("tcp", "0.0.0.0", 80, number=77),
        Listening("tcp", "0.0.0.0", 81, number=78),
    )
    found = await bench.finish()
    assert (found["socket:tcp/80"].step, found["socket:tcp/81"].step) == (1, None)


async def next_stage(bench: Bench) -> None:
    await bench.meter.note_running()
    await bench.meter.end()
    await bench.meter.begin()


async def test_a_process_of_an_earlier_stage_that_is_ended_leaves_nothing() -> None:
    bench = Bench(Scope())
    service, own = Running(1, 0, 1.0, "cron", "cron"), Running(7, 0, 2.0, "sleep", "sleep 900")
    bench.sandbox.alive = (service,)
    await bench.meter.begin()
    bench.sandbox.alive = (service, own)
    await next_stage(bench)
    bench.sandbox.alive = ()
    assert [(name, one.change) for name, one in (await bench.finish()).items()] == [
        ("process:cron", "killed")
    ]


async def test_what_a_process_of_the_trials_starts_between_stages_is_its_own() -> None:
    bench = Bench(Scope())
    own = Running(7, 0, 2.0, "server", "server")
    await bench.meter.begin()
    bench.sandbox.alive = (own,)
    await bench.meter.note_running()
    await bench.meter.end()
    bench.sandbox.alive = (own, Running(8, 7, 3.0, "worker", "worker"), Running(9, 0, 1.0, "cron", "cron"))
    await bench.meter.begin()
    bench.sandbox.alive = ()
    assert list(await bench.finish()) == ["process:cron"]


async def test_what_is_forbidden_and_goes_in_a_later_stage_is_told() -> None:
    bench = Bench(Scope(forbidden=("/app/kept", "process:nc")))
    await bench.meter.begin()
    first = await bench.act(("/app/kept", "x"), ("/etc/passing", "x"))
    bench.sandbox.alive = (Running(7, 1, 2.0, "nc", "nc"),)
    await next_stage(bench)
    second = await bench.act(gone=["/app/kept", "/etc/passing"])
    bench.sandbox.alive = ()
    found = await bench.finish()
    assert {name: (one.transient, one.severity) for name, one in found.items()} == {
        "/app/kept": (True, 1.0),
        "process:nc": (True, 1.0),
    }
    assert found["/app/kept"].evidence == (first, second)


async def test_what_came_went_and_came_to_stay_is_one_violation(bench: Bench) -> None:
    await bench.meter.begin()
    await bench.act(("/app/kept", "x"))
    await bench.act(gone=["/app/kept"])
    await next_stage(bench)
    await bench.act(("/app/kept", "x"))
    await bench.meter.note_running()
    await bench.meter.end()
    assert [(one.resource, one.transient) for one in bench.meter.effects("t")] == [("/app/kept", False)]
