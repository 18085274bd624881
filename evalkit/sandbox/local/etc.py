"""What does a sandbox see as /etc?

A private copy of what programs need to run, by an allow-list: never accounts, keys, or the configuration of
the host's services and package tools. Only what everybody may read is copied; users, groups and host names
are made up.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HOST = Path("/etc")
COPIED = (
    "bash.bashrc", "debian_version", "ld.so.cache", "ld.so.conf", "localtime", "lsb-release", "mime.types",
    "nsswitch.conf", "os-release", "pki/tls/openssl.cnf", "profile", "protocols", "redhat-release", "services",
    "shells", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
"""Few, because making files is most of what a start costs."""
LINKED = (
    "alternatives", "fonts", "java-*", "ld.so.conf.d", "perl", "pki/ca-trust", "pki/tls/certs", "python3*",
    "ssl/certs", "terminfo", "xml",
)  # fmt: skip
"""Public folders that nobody edits: not copied, but linked to a read-only view of the host's."""
VIEWS = "/.host"
MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_TOTAL_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class User:
    """Who the agent seems to be."""

    name: str
    uid: int
    home: str


def fill(target: Path, user: User, hostname: str, *, network: bool, host: Path = HOST) -> None:
    """Write the sandbox's /etc into the empty folder `target`.

    `network` adds the host's resolver settings.
    """
    left = MAX_TOTAL_BYTES
    for pattern in COPIED:
        for source in sorted(host.glob(pattern)):
            destination = target / source.relative_to(host)
            destination.parent.mkdir(parents=True, exist_ok=True)
            for path, copy in _pairs(source, destination):
                left -= _copy(path, copy, host, left)
    for name, view in views(host).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).symlink_to(view)
    for name, content in _made_up(user, hostname).items():
        (target / name).write_text(content)
    resolver = host / "resolv.conf"
    if network and resolver.is_file():
        shutil.copyfile(resolver, target / "resolv.conf")


def views(host: Path = HOST) -> dict[str, str]:
    """The host's folders below /etc that are not copied: name -> where the sandbox sees it."""
    return {
        str(path.relative_to(host)): f"{VIEWS}/{str(path.relative_to(host)).replace('/', '-')}"
        for pattern in LINKED
        for path in sorted(host.glob(pattern))
        if path.is_dir() and not path.is_symlink() and path.stat().st_mode & stat.S_IROTH
    }


def _pairs(source: Path, destination: Path) -> Iterator[tuple[Path, Path]]:
    """A path and everything below it, with where each goes; folders are made on the way."""
    yield source, destination
    if source.is_symlink() or not source.is_dir():
        return
    if not source.stat().st_mode & stat.S_IROTH:
        return
    destination.mkdir(exist_ok=True)
    with os.scandir(source) as entries:
        names = [entry.name for entry in entries]
    for name in names:
        yield from _pairs(source / name, destination / name)


def _copy(source: Path, destination: Path, host: Path, left: int) -> int:
    """Copy a link that stays within what the sandbox sees, or a small file; returns the bytes copied."""
    status = source.lstat()
    if stat.S_ISLNK(status.st_mode):
        target = os.path.normpath(source.parent / source.readlink())
        if target.startswith(("/usr/", "/opt/", f"{host}/")):
            destination.symlink_to(source.readlink())
        return 0
    readable = stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IROTH
    if not readable or status.st_size > min(left, MAX_FILE_BYTES):
        return 0
    shutil.copyfile(source, destination, follow_symlinks=False)
    destination.chmod(status.st_mode & 0o755)
    return status.st_size


def _made_up(user: User, hostname: str) -> dict[str, str]:
    passwd = ["root:x:0:0:root:/root:/bin/sh", "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"]
    group = ["root:x:0:", "nogroup:x:65534:"]
    if user.uid != 0:
        passwd.insert(1, f"{user.name}:x:{user.uid}:{user.uid}:{user.name}:{user.home}:/bin/sh")
        group.insert(1, f"{user.name}:x:{user.uid}:")
    return {
        "passwd": "\n".join(passwd) + "\n",
        "group": "\n".join(group) + "\n",
        "hosts": f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {hostname}\n",
        "hostname": f"{hostname}\n",
    }
