"""What the host contributes to a sandbox is chosen by allow-lists, and its settings are explained."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox.local import support
from evalkit.sandbox.local.bubblewrap import Account
from evalkit.sandbox.local.etc import User, fill, views
from evalkit.sandbox.local.scratch import create, make_base

SELF = Account(os.geteuid(), os.getegid(), switch=False)


@pytest.fixture
def host_etc(tmp_path: Path) -> Path:
    """An /etc with things that programs need, and things that nobody else may see."""
    etc = tmp_path / "etc"
    for folder in ("ssl/certs", "ssl/private", "ssh", "docker", "alternatives", "ld.so.conf.d"):
        (etc / folder).mkdir(parents=True)
    for name in (
        "nsswitch.conf",
        "services",
        "shadow",
        "sudoers",
        "ssh/key",
        "docker/daemon.json",
        "pip.conf",
    ):
        (etc / name).write_text("x")
    (etc / "ssl/private/key").write_text("x")
    (etc / "ld.so.conf.d/a.conf").write_text("/usr/lib/a")
    (etc / "os-release").symlink_to("../usr/lib/os-release")
    (etc / "shells").symlink_to("/root/secret")
    (etc / "localtime").symlink_to("/usr/share/zoneinfo/UTC")
    (etc / "resolv.conf").write_text("nameserver 192.0.2.1\n")
    (etc / "profile").write_text("x")
    (etc / "profile").chmod(0o600)
    return etc


def filled(tmp_path: Path, host_etc: Path, user: User, *, network: bool = False) -> Path:
    target = tmp_path / "copy"
    target.mkdir()
    fill(target, user, "box", network=network, host=host_etc)
    return target


ROOT = User("root", 0, "/root")


def test_only_what_is_allowed_and_readable_by_all_is_copied(tmp_path: Path, host_etc: Path) -> None:
    copy = filled(tmp_path, host_etc, ROOT)
    found = {
        str(path.relative_to(copy)) for path in copy.rglob("*") if not path.is_dir() or path.is_symlink()
    }
    assert found == {
        *("alternatives", "group", "hostname", "hosts", "ld.so.conf.d", "localtime", "nsswitch.conf"),
        *("passwd", "services", "ssl/certs"),
    }


def test_large_public_folders_are_links_to_a_read_only_view(tmp_path: Path, host_etc: Path) -> None:
    copy = filled(tmp_path, host_etc, ROOT)
    assert views(host_etc) == {
        "alternatives": "/.host/alternatives",
        "ld.so.conf.d": "/.host/ld.so.conf.d",
        "ssl/certs": "/.host/ssl-certs",
    }
    assert str((copy / "ssl/certs").readlink()) == "/.host/ssl-certs"


def test_the_accounts_are_root_nobody_and_the_agent(tmp_path: Path, host_etc: Path) -> None:
    passwd = (filled(tmp_path, host_etc, User("agent", 1000, "/home/agent")) / "passwd").read_text()
    assert [line.split(":")[0] for line in passwd.splitlines()] == ["root", "agent", "nobody"]


def test_the_resolver_is_copied_only_with_a_network(tmp_path: Path, host_etc: Path) -> None:
    assert (filled(tmp_path, host_etc, ROOT, network=True) / "resolv.conf").is_file()


def test_a_base_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder of somebody else's")
    base = tmp_path / "base"
    base.mkdir()
    os.chown(base, 12345, 12345)
    with pytest.raises(SandboxError, match="belongs to somebody else"):
        make_base(base, SELF)


def test_a_base_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "base").symlink_to("real")
    with pytest.raises(SandboxError, match="belongs to somebody else"):
        make_base(tmp_path / "base", SELF)


def test_a_base_folder_that_others_may_write_to_is_closed(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    base.chmod(0o777)
    make_base(base, SELF)
    assert base.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SandboxError) as refused:
        create(tmp_path / "file" / "base", SELF, run="run", trial="trial")
    assert "EVALKIT_SCRATCH" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("kernel/unprivileged_userns_clone", "0"),
        ("user/max_user_namespaces", "0"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
    ],
)
def test_the_setting_that_forbids_it_is_named_with_the_command_that_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    (tmp_path / setting).parent.mkdir(parents=True)
    (tmp_path / setting).write_text(f"{value}\n")
    problem, hint = support.explain("Operation not permitted", settings=tmp_path)
    name = setting.replace("/", ".")
    assert name in problem
    assert f"sysctl -w {name}=" in hint
    assert "docker" in hint


def test_an_unknown_reason_is_passed_on(tmp_path: Path) -> None:
    problem, _ = support.explain("no such thing", settings=tmp_path)
    assert "no such thing" in problem
