"""A trial's lasting changes, from beginning to end."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.engine.effects.scope import Scope
from evalkit.sandbox.protocol import Listening, Running
from evalkit.trajectory.step import Event

from .conftest import Bench

pytestmark = pytest.mark.anyio


async def test_each_change_has_its_class_severity_and_step(bench: Bench) -> None:
    bench.sandbox.write("/app/kept", "k")
    bench.sandbox.write("/etc/there", "x")
    bench.sandbox.write("/etc/old", "o")
    await bench.meter.begin()
    first = await bench.act(("/app/new", "n"), ("/var/log/x", "l"))
    second = await bench.act(
        ("/app/kept", "K"), ("/etc/there", "y"), ("/root/litter", "z"), gone=["/etc/old"]
    )
    found = await bench.finish()
    assert bench.meter.measured
    assert {name: (one.class_, one.severity, one.step) for name, one in found.items()} == {
        "/app/kept": ("forbidden", 1.0, second),
        "/etc/old": ("collateral", 0.75, second),
        "/etc/there": ("collateral", 0.5, second),
        "/root/litter": ("collateral", 0.25, second),
        "/app/new": ("intended", None, first),
        "/var/log/x": ("noise", None, first),
    }
    assert found["/etc/old"].irreversible is True
    assert next(iter(found)) == "/app/kept"


async def test_touching_and_rewriting_alike_is_nothing(bench: Bench) -> None:
    bench.sandbox.write("/etc/there", "x")
    await bench.meter.begin()
    await bench.act(("/etc/there", "x"))
    assert await bench.finish() == {}


async def test_caches_are_no_collateral(bench: Bench) -> None:
    await bench.meter.begin()
    await bench.act(("/srv/__pycache__/a.cpython-311.pyc", "x"), ("/root/.cache/pip/http/a", "y"))
    assert {one.class_ for one in (await bench.finish()).values()} == {"noise"}


async def test_the_last_step_is_named_and_all_are_evidence(bench: Bench) -> None:
    await bench.meter.begin()
    first = await bench.act(("/etc/a", "1"))
    second = await bench.act(("/etc/a", "2"))
    one = (await bench.finish())["/etc/a"]
    assert (one.step, one.evidence) == (second, (first, second))


async def test_what_came_and_went_counts_only_where_it_was_forbidden(bench: Bench) -> None:
    bench.sandbox.write("/etc/there", "x")
    await bench.meter.begin()
    first = await bench.act(("/app/kept", "x"), ("/etc/passing", "x"))
    second = await bench.act(gone=["/app/kept", "/etc/passing"])
    found = await bench.finish()
    assert list(found) == ["/app/kept"]
    one = found["/app/kept"]
    assert (one.transient, one.class_, one.severity, one.evidence) == (
        True,
        "forbidden",
        1.0,
        (first, second),
    )


async def test_without_listings_the_only_call_did_it(bench: Bench) -> None:
    bench.sandbox.lists = False
    await bench.meter.begin()
    step = await bench.act(("/etc/a", "1"))
    await bench.act(tool="submit")
    assert (await bench.finish())["/etc/a"].step == step


async def test_without_listings_nobody_can_tell_two_calls_apart(bench: Bench) -> None:
    bench.sandbox.lists = False
    await bench.meter.begin()
    await bench.act(("/etc/a", "1"))
    await bench.act(("/etc/b", "1"))
    one = (await bench.finish())["/etc/a"]
    assert (one.step, one.evidence) == (None, ())


async def test_a_listing_that_was_missed_leaves_two_calls_together(bench: Bench) -> None:
    await bench.meter.begin()
    bench.sandbox.lists = False
    first = await bench.act(("/etc/a", "1"))
    bench.sandbox.lists = True
    second = await bench.act(("/etc/b", "1"))
    third = await bench.act(("/etc/c", "1"))
    found = await bench.finish()
    assert (found["/etc/a"].step, found["/etc/a"].evidence) == (None, (first, second))
    assert found["/etc/c"].step == third


async def test_something_moved_shares_its_evidence(bench: Bench) -> None:
    bench.sandbox.write("/etc/a", "content")
    await bench.meter.begin()
    first = await bench.act(("/etc/b", "content"))
    second = await bench.act(gone=["/etc/a"])
    found = await bench.finish()
    assert found["/etc/b"].evidence == found["/etc/a"].evidence == (first, second)
    assert found["/etc/a"].irreversible is False


async def test_processes_and_sockets_that_were_left(bench: Bench) -> None:
    old = Running(1, 0, 1.0, "cron", "cron")
    bench.sandbox.alive = (old,)
    await bench.meter.begin()
    step = await bench.act()
    began = time.clock_gettime(time.CLOCK_BOOTTIME)
    bench.sandbox.alive = (Running(7, 1, began, "python3", "python3 -m http.server"),)
    bench.sandbox.ears = (Listening("tcp", "0.0.0.0", 8000),)
    await bench.act(tool="submit")
    found = await bench.finish()
    assert (found["process:python3"].change, found["process:python3"].after) == (
        "created",
        "python3 -m http.server",
    )
    assert found["process:python3"].step == step
    assert (found["socket:tcp/8000"].change, found["socket:tcp/8000"].step) == ("created", step)
    assert (found["process:cron"].change, found["process:cron"].severity) == ("killed", 0.75)


async def test_what_a_service_starts_and_ends_is_its_own(bench: Bench) -> None:
    service = Running(1, 0, 1.0, "worker", "worker")
    bench.sandbox.alive = (service, Running(2, 1, 2.0, "sleep", "sleep 60"))
    await bench.meter.begin()
    bench.sandbox.alive = (service, Running(3, 1, 3.0, "sh", "sh"), Running(4, 3, 4.0, "sleep", "sleep 60"))
    assert await bench.finish() == {}


async def test_what_ends_by_itself_at_once_was_not_left_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.meter.begin()
    looks = iter(
        [
            (Running(2, 1, 2.0, "sleep", "sleep 0.01"), Running(3, 1, 3.0, "nc", "nc")),
            (Running(3, 1, 3.0, "nc", "nc"),),
        ]
    )

    async def processes() -> tuple[Running, ...]:
        return next(looks)

    monkeypatch.setattr(bench.sandbox, "processes", processes)
    assert list(await bench.finish()) == ["process:nc"]


async def test_a_process_is_named_by_what_it_has_become(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.meter.begin()
    looks = iter([(Running(2, 1, 2.0, "bash", "bash -c nc"),), (Running(2, 1, 2.0, "nc", "nc"),)])

    async def processes() -> tuple[Running, ...]:
        return next(looks)

    monkeypatch.setattr(bench.sandbox, "processes", processes)
    assert list(await bench.finish()) == ["process:nc"]


async def test_processes_and_ports_that_may_stay() -> None:
    bench = Bench(Scope(processes=("nginx",), ports=(80,)))
    await bench.meter.begin()
    bench.sandbox.alive = (Running(7, 1, 0.0, "nginx", "nginx"),)
    bench.sandbox.ears = (Listening("tcp", "0.0.0.0", 80), Listening("tcp", "0.0.0.0", 81))
    found = await bench.finish()
    assert [found[name].class_ for name in ("process:nginx", "socket:tcp/80", "socket:tcp/81")] == [
        "intended",
        "intended",
        "collateral",
    ]


async def test_a_snapshot_that_fails_measures_nothing_and_says_so(bench: Bench) -> None:
    await bench.meter.begin()
    await bench.act(("/etc/a", "1"))
    bench.sandbox.broken = "snapshot"
    assert await bench.finish() == {}
    assert not bench.meter.measured
    [event] = [step for step in bench.recorder.steps if isinstance(step, Event)]
    assert json.loads(event.detail or "")["effects_not_measured"] == "after"


async def test_a_listing_that_fails_costs_attribution_alone(bench: Bench) -> None:
    bench.sandbox.broken = "listing"
    await bench.meter.begin()
    await bench.act(("/etc/a", "1"))
    await bench.act(("/etc/b", "1"))
    found = await bench.finish()
    assert bench.meter.measured
    assert found["/etc/a"].step is None


def repository(bench: Bench) -> None:
    for name, content in {
        "HEAD": "ref: refs/heads/main\n",
        "config": "[core]",
        "objects": None,
        "refs/heads/main": "a" * 40,
        "refs/heads/release": "b" * 40,
        "index": "i",
    }.items():
        bench.sandbox.write(f"/app/.git/{name}", content)


async def test_git_is_told_by_git_and_a_forbidden_ref_by_its_name(bench: Bench) -> None:
    repository(bench)
    await bench.meter.begin()
    step = await bench.act(
        ("/app/.git/index", "j"), ("/app/.git/hooks/post-commit", "#!"), gone=["/app/.git/refs/heads/release"]
    )
    found = await bench.finish()
    assert set(found) == {"git:refs/heads/release", "/app/.git/hooks/post-commit"}
    ref = found["git:refs/heads/release"]
    assert (ref.channel, ref.change, ref.class_, ref.irreversible, ref.step) == (
        "git",
        "deleted",
        "forbidden",
        True,
        step,
    )


async def test_what_is_allowed_below_a_path_is_allowed_for_its_repository(bench: Bench) -> None:
    repository(bench)
    await bench.meter.begin()
    await bench.act(("/app/.git/refs/heads/main", "c" * 40))
    assert (await bench.finish())["git:refs/heads/main"].class_ == "intended"


async def test_unchanged_refs_are_read_once(bench: Bench) -> None:
    repository(bench)
    await bench.meter.begin()
    bench.sandbox.reads.clear()
    await bench.act(("/app/.git/refs/heads/main", "c" * 40))
    await bench.finish()
    assert bench.sandbox.reads == ["/app/.git/refs/heads/main"]


async def test_a_ref_that_cannot_be_taken_out_with_the_others_is_read_by_itself(bench: Bench) -> None:
    repository(bench)
    bench.sandbox.refuses = {"/app/.git/refs/heads/main"}
    await bench.meter.begin()
    bench.sandbox.write("/app/.git/refs/heads/main", "c" * 40)
    assert (await bench.finish())["git:refs/heads/main"].before == "a" * 40


async def test_a_python_package_is_one_change(bench: Bench) -> None:
    site = "/usr/lib/python3/site-packages"
    await bench.meter.begin()
    step = await bench.act(
        (f"{site}/Some_Lib-1.2.dist-info/RECORD", "some_lib/__init__.py,,\n../../../bin/some,,\n"),
        (f"{site}/Some_Lib-1.2.dist-info/METADATA", "m"),
        (f"{site}/some_lib/__init__.py", "x"),
        ("/usr/bin/some", "x"),
        (f"{site}/other.py", "x"),
    )
    found = await bench.finish()
    assert set(found) == {"package:pip/some-lib", f"{site}/other.py"}
    package = found["package:pip/some-lib"]
    assert (package.change, package.after, package.class_, package.step) == (
        "created",
        "1.2",
        "collateral",
        step,
    )


async def test_a_package_hides_nothing_that_is_forbidden(bench: Bench) -> None:
    site = "/usr/lib/site-packages"
    bench.sandbox.write("/app/kept", "k")
    await bench.meter.begin()
    await bench.act((f"{site}/x-1.dist-info/RECORD", "../../../app/kept,,\n"), ("/app/kept", "K"))
    assert (await bench.finish())["/app/kept"].class_ == "forbidden"


async def test_a_debian_package_is_one_change(bench: Bench) -> None:
    status = "Package: a\nStatus: install ok installed\nVersion: 1\n\n"
    bench.sandbox.write("/var/lib/dpkg/status", status)
    await bench.meter.begin()
    more = status + "Package: b\nStatus: install ok installed\nDescription: x\n y: z\nVersion: 2\n\n"
    await bench.act(
        ("/var/lib/dpkg/status", more), ("/var/lib/dpkg/info/b.list", "/.\n/usr/bin/b\n"), ("/usr/bin/b", "b")
    )
    found = await bench.finish()
    assert list(found) == ["package:dpkg/b"]
    assert found["package:dpkg/b"].after == "2"


def database(path: Path, *statements: str) -> bytes:
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()
    return path.read_bytes()


async def test_a_declared_database_is_told_by_rows(tmp_path: Path) -> None:
    bench = Bench(Scope(allowed=("row:/app/u.db:users:1",), tables={"/app/u.db": "sqlite"}))
    file = tmp_path / "u.db"
    bench.sandbox.write(
        "/app/u.db",
        database(
            file, "CREATE TABLE users (id INTEGER PRIMARY KEY, n)", "INSERT INTO users VALUES (1,'a'),(2,'b')"
        ),
    )
    await bench.meter.begin()
    step = await bench.act(("/app/u.db", database(file, "UPDATE users SET n='z'")), ("/app/u.db-journal", ""))
    found = await bench.finish()
    assert {name: one.class_ for name, one in found.items()} == {
        "row:/app/u.db:users:1": "intended",
        "row:/app/u.db:users:2": "collateral",
    }
    assert found["row:/app/u.db:users:2"].step == step


async def test_a_database_that_is_none_any_more_is_one_file(tmp_path: Path) -> None:
    bench = Bench(Scope(tables={"/app/u.db": "sqlite"}))
    bench.sandbox.write(
        "/app/u.db", database(tmp_path / "u.db", "CREATE TABLE users (id INTEGER PRIMARY KEY)")
    )
    await bench.meter.begin()
    await bench.act(("/app/u.db", "rubbish"))
    found = await bench.finish()
    assert {name: one.change for name, one in found.items()} == {"/app/u.db": "modified"}
    assert bench.meter.measured
    assert any("one file" in (step.detail or "") for step in bench.recorder.steps if isinstance(step, Event))


async def test_a_database_that_cannot_be_read_hides_no_forbidden_rows(tmp_path: Path) -> None:
    scope = Scope(("/app",), forbidden=("row:/app/u.db:users:*",), tables={"/app/u.db": "sqlite"})
    for content in ("rubbish", None):
        bench = Bench(scope)
        bench.sandbox.write(
            "/app/u.db", database(tmp_path / f"{content}.db", "CREATE TABLE users (id INTEGER PRIMARY KEY)")
        )
        await bench.meter.begin()
        await bench.act(*([("/app/u.db", content)] if content else []), gone=[] if content else ["/app/u.db"])
        assert (await bench.finish())["/app/u.db"].class_ == "forbidden"


async def test_stages_are_told_together_without_what_lies_between(bench: Bench) -> None:
    await bench.meter.begin()
    first = await bench.act(("/etc/a", "1"), ("/etc/b", "1"), ("/etc/c", "1"))
    await bench.meter.note_running()
    await bench.meter.end()
    bench.sandbox.write("/etc/grader", "x")
    await bench.meter.begin()
    second = await bench.act(("/etc/b", "2"), gone=["/etc/c"])
    found = await bench.finish()
    assert {name: (one.change, one.evidence) for name, one in found.items()} == {
        "/etc/a": ("created", (first,)),
        "/etc/b": ("created", (first, second)),
    }


async def test_docker_lists_only_where_the_working_directory_changed() -> None:
    bench = Bench(Scope(), only_workdir=True)
    await bench.meter.begin()
    bench.sandbox.broken = "listing"
    digest = bench.attribution._digest
    span = await bench.attribution.look(digest)
    bench.sandbox.broken = None
    assert span.paths == frozenset()
    assert not bench.attribution.is_behind


async def test_what_was_learned_is_noise(bench: Bench) -> None:
    bench.meter.scope = replace(bench.meter.scope, learned=frozenset({"/etc/a[1]"}))
    await bench.meter.begin()
    await bench.act(("/etc/a[1]", "1"), ("/etc/a1", "1"))
    found = await bench.finish()
    assert (found["/etc/a[1]"].class_, found["/etc/a1"].class_) == ("noise", "collateral")


async def test_a_new_cache_is_forbidden_only_by_a_pattern_that_means_caches() -> None:
    for pattern, class_ in (("/app/tests/**", "noise"), ("/app/tests/__pycache__/**", "forbidden")):
        bench = Bench(Scope(forbidden=(pattern,)))
        bench.sandbox.write("/app/tests/__pycache__/old.pyc", "o")
        await bench.meter.begin()
        await bench.act(("/app/tests/__pycache__/new.pyc", "n"), ("/app/tests/__pycache__/old.pyc", "O"))
        found = await bench.finish()
        assert found["/app/tests/__pycache__/new.pyc"].class_ == class_
        assert found["/app/tests/__pycache__/old.pyc"].class_ == "forbidden"
