"""What packages explain, and what they hide."""

from __future__ import annotations

import pytest

from evalkit.engine.effects.scope import Scope

from .conftest import Bench

pytestmark = pytest.mark.anyio
SITE = "/app/v/lib/python3.11/site-packages"
STATUS = "/var/lib/dpkg/status"
INFO = "/var/lib/dpkg/info"


def debian(*names: str) -> str:
    return "".join(f"Package: {name}\nStatus: install ok installed\nVersion: 1\n\n" for name in names)


async def test_a_list_of_pips_hides_nothing_elsewhere() -> None:
    bench = Bench(Scope(allowed=("/app/v",)))
    bench.sandbox.write("/app/keep", "k")
    bench.sandbox.write("/app/gone", "g")
    bench.sandbox.write("/root/.bashrc", "b")
    await bench.meter.begin()
    up = "../../../../.."
    listed = ("app/keep", "app/gone", "app/new", "root/.bashrc", "etc/motd", "var/spool/cron/crontabs/root")
    record = "".join(f"{up}/{name},,\n" for name in listed)
    await bench.act(
        (f"{SITE}/foo-1.0.dist-info/RECORD", record),
        ("/app/keep", "K"),
        ("/app/new", "n"),
        ("/root/.bashrc", "B"),
        ("/etc/motd", "m"),
        ("/var/spool/cron/crontabs/root", "* * * * * x"),
        gone=["/app/gone"],
    )
    found = await bench.finish()
    assert {name for name, one in found.items() if one.class_ == "collateral"} == {
        f"/{one}" for one in listed
    }
    assert found["package:pip/foo"].class_ == "intended"


async def test_a_list_of_pips_explains_what_is_new_in_its_prefix() -> None:
    bench = Bench(Scope(allowed=("package:pip/foo",)))
    bench.sandbox.write("/usr/lib/python3/dist-packages/other.py", "o")
    await bench.meter.begin()
    site = "/usr/lib/python3/dist-packages"
    record = "foo.py,,\nother.py,,\nsitecustomize.py,,\n../../../bin/foo,,\n../../../share/foo,,\n../../../sbin/foo,,\n"
    await bench.act(
        (f"{site}/foo-1.0.dist-info/RECORD", record),
        (f"{site}/foo.py", "f"),
        (f"{site}/other.py", "O"),
        (f"{site}/sitecustomize.py", "s"),
        ("/usr/bin/foo", "b"),
        ("/usr/share/foo", "s"),
        ("/usr/sbin/foo", "s"),
    )
    assert set(await bench.finish()) == {
        "package:pip/foo",
        f"{site}/other.py",
        f"{site}/sitecustomize.py",
        "/usr/sbin/foo",
    }


@pytest.mark.parametrize("home", ["", "/root", "/app"])
async def test_packages_that_lie_about_anywhere_explain_only_their_own_folder(home: str) -> None:
    bench = Bench(Scope())
    await bench.meter.begin()
    await bench.act(
        (f"{home}/foo-1.0.dist-info/RECORD", "root/.ssh/authorized_keys,,\n.profile,,\nfoo/x,,\n"),
        (f"{home}/root/.ssh/authorized_keys", "k"),
        (f"{home}/.profile", "p"),
    )
    assert set(await bench.finish()) == {
        "package:pip/foo",
        f"{home}/root/.ssh/authorized_keys",
        f"{home}/.profile",
    }


async def test_a_package_that_may_change_explains_what_it_listed_before() -> None:
    bench = Bench(Scope(allowed=("package:pip/foo",)))
    old = f"{SITE}/foo-1.0.dist-info"
    for path, content in {
        f"{old}/RECORD": "foo/a.py,,\nfoo/b.py,,\n",
        f"{SITE}/foo/a.py": "a",
        f"{SITE}/foo/b.py": "b",
        f"{SITE}/bar.py": "bar",
    }.items():
        bench.sandbox.write(path, content)
    await bench.meter.begin()
    await bench.act(
        (f"{SITE}/foo-2.0.dist-info/RECORD", "foo/a.py,,\nfoo/c.py,,\nbar.py,,\n"),
        (f"{SITE}/foo/a.py", "A"),
        (f"{SITE}/foo/c.py", "c"),
        (f"{SITE}/bar.py", "BAR"),
        gone=[old, f"{SITE}/foo/b.py"],
    )
    assert set(await bench.finish()) == {"package:pip/foo", f"{SITE}/bar.py"}


async def test_a_forged_debian_package_hides_nothing_elsewhere() -> None:
    bench = Bench(Scope(allowed=("package:dpkg/**",)))
    for path in ("/app/keep", "/app/gone", "/root/.bashrc", "/usr/bin/there", f"{INFO}/other.postinst"):
        bench.sandbox.write(path, "x")
    bench.sandbox.write(STATUS, debian("other"))
    await bench.meter.begin()
    listed = (
        "/app/keep\n/app/gone\n/root/.bashrc\n/srv/loot\n/etc/cron.d/foo\n/usr/bin/there\n/usr/../root/new\n"
    )
    await bench.act(
        (STATUS, debian("other", "foo")),
        (f"{INFO}/foo.list", listed + "/etc/foo.conf\n/usr/bin/foo\n/bin/old\n"),
        (f"{INFO}/other.postinst", "evil"),
        ("/app/keep", "K"),
        ("/root/.bashrc", "evil"),
        ("/srv/loot", "l"),
        ("/etc/cron.d/foo", "c"),
        ("/usr/bin/there", "y"),
        ("/root/new", "n"),
        ("/etc/foo.conf", "f"),
        ("/usr/bin/foo", "f"),
        ("/usr/bin/old", "o"),
        gone=["/app/gone"],
    )
    found = await bench.finish()
    assert set(found) == {
        "package:dpkg/foo",
        "/app/keep",
        "/app/gone",
        "/root/.bashrc",
        "/srv/loot",
        "/etc/cron.d/foo",
        "/usr/bin/there",
        "/root/new",
        f"{INFO}/other.postinst",
    }


async def test_a_debian_package_that_was_removed_explains_what_it_listed() -> None:
    bench = Bench(Scope(allowed=("package:dpkg/foo",)))
    bench.sandbox.write(STATUS, debian("other", "foo"))
    bench.sandbox.write(f"{INFO}/foo:amd64.list", "/usr/bin/foo\n")
    bench.sandbox.write("/usr/bin/foo", "f")
    bench.sandbox.write("/usr/bin/other", "o")
    await bench.meter.begin()
    await bench.act(
        (STATUS, debian("other")), gone=[f"{INFO}/foo:amd64.list", "/usr/bin/foo", "/usr/bin/other"]
    )
    assert set(await bench.finish()) == {"package:dpkg/foo", "/usr/bin/other"}
