"""Which files does the change of a package explain, so that they need no rows of their own?

What a package lists is written inside, and may be a lie: a list of the end explains only what is new, and only where
packages of its kind put their files. What was there before is explained where the list of the beginning names it, too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from evalkit.engine.effects.change import RawChange
from evalkit.measures.globs import fits

MAX_LIST = 16 * 1024 * 1024
"""Bytes of a list that are read."""
_MAX_LINES = 50_000
_SITE = re.compile(r"(?:.*/)?(?:site|dist)-packages")
_PREFIX = re.compile(r"(?P<prefix>.*)/lib(?:64)?/python[^/]*/(?:site|dist)-packages")
_PIP_BESIDE = ("bin", "share")
"""Folders of a Python's prefix that packages put files into, beside its folder of packages."""
_DPKG_PLACES = ("/usr/", "/opt/", "/etc/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/libx32/")
_MERGED = re.compile(r"/(?:s?bin|lib(?:32|64|x32)?)/")
"""What is below /usr today, and is still listed without it."""
_DPKG_OWN = (
    "/var/lib/dpkg/status", "/var/lib/dpkg/status-old", "/var/lib/dpkg/available", "/var/lib/dpkg/available-old",
    "/var/lib/dpkg/lock", "/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/triggers/**", "/var/lib/dpkg/updates/**",
    "/var/lib/apt/**", "/var/cache/apt/**", "/var/cache/debconf/**", "/var/cache/ldconfig/**", "/var/log/apt/**",
    "/var/log/dpkg.log", "/etc/ld.so.cache",
)  # fmt: skip
"""What dpkg and apt keep for themselves, and write whatever they install."""
_INFO = "/var/lib/dpkg/info/"
_RUN_BY_THEMSELVES = (
    "/etc/cron*", "/etc/cron*/**", "/etc/anacrontab", "/var/spool/cron/**", "/etc/init.d/**", "/etc/rc*", "/etc/rc*/**",
    "/etc/inittab", "/etc/systemd/**", "/usr/lib/systemd/**", "/lib/systemd/**", "/etc/profile", "/etc/profile.d/**",
    "/etc/environment", "/etc/*bashrc", "/etc/zsh/**", "/etc/skel/**", "/etc/xdg/autostart/**", "/etc/udev/**",
    "/etc/ld.so.preload", "/etc/ld.so.conf.d/**", "/etc/sudoers*", "/etc/sudoers.d/**", "/etc/pam.d/**", "/etc/ssh/**",
    "/**/sitecustomize.py", "/**/usercustomize.py",
)  # fmt: skip
"""What is run, or believed, without anybody's asking: always told by itself."""


@dataclass(frozen=True, slots=True)
class Lists:
    """What packages list as their files, by the file that says so."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


class PackageFiles:
    """The files of those packages that are not installed as they were."""

    def __init__(self, changes: Iterable[RawChange], lists: Lists, existed: Collection[str]) -> None:
        changed = tuple(changes)
        self._existed = existed
        self._homes = frozenset(
            home for one in changed if one.resource.startswith("package:pip/") for home in one.places
        )
        self._below = tuple(f"{home}/" for home in self._homes)
        self._debian = frozenset(
            one.resource.removeprefix("package:dpkg/")
            for one in changed
            if one.resource.startswith("package:dpkg/")
        )
        self._before = frozenset(_listed(lists.before))
        self._after = frozenset(_listed(lists.after))

    def explain(self, path: str, *, is_gone: bool) -> bool:
        """Whether a path that is new, altered or gone belongs to such a package."""
        if self._is_record(path, is_gone=is_gone):
            return True
        return self._is_listed(path, is_gone=is_gone) and not fits(_RUN_BY_THEMSELVES, (path,))

    def _is_listed(self, path: str, *, is_gone: bool) -> bool:
        if path not in self._existed:
            return path in self._after
        if is_gone:
            return path in self._before
        return path in self._before and path in self._after and not path.startswith("/etc/")

    def _is_record(self, path: str, *, is_gone: bool) -> bool:
        """Whether a package manager keeps account there of what changed."""
        if path in self._homes or path.startswith(self._below):
            return True
        if not self._debian:
            return False
        if path.startswith(_INFO):
            return _of_debian(path) in self._debian
        return not is_gone and fits(_DPKG_OWN, (path,))


def lists_of(changes: Iterable[RawChange], entries: Collection[str]) -> list[str]:
    """The files that tell what belongs to these packages."""
    wanted: list[str] = []
    debian: set[str] = set()
    for change in changes:
        manager, _, name = change.resource.removeprefix("package:").partition("/")
        if manager == "pip":
            wanted += [f"{home}/RECORD" for home in change.places if f"{home}/RECORD" in entries]
        else:
            debian.add(name)
    if debian:
        wanted += [
            path
            for path in entries
            if path.startswith(_INFO) and path.endswith(".list") and _of_debian(path) in debian
        ]
    return wanted


def _of_debian(path: str) -> str:
    """Whose file of dpkg's it is: `NAME.list`, `NAME:ARCHITECTURE.postinst`."""
    return path[len(_INFO) :].rpartition(".")[0].partition(":")[0]


def _listed(lists: Mapping[str, bytes]) -> Iterator[str]:
    """The paths in these lists that are where such packages put files."""
    for path, content in lists.items():
        lines = content.decode("utf-8", "surrogateescape").split("\n")[:_MAX_LINES]
        yield from _python(path, lines) if path.endswith("/RECORD") else _debian(lines)


def _python(path: str, lines: Iterable[str]) -> Iterator[str]:
    site = posixpath.dirname(posixpath.dirname(path))
    if not _SITE.fullmatch(site):
        return
    prefix = _PREFIX.fullmatch(site)
    beside = tuple(f"{prefix['prefix']}/{name}/" for name in _PIP_BESIDE) if prefix else ()
    for line in lines:
        name = line.split(",", 1)[0].strip('"')
        one = posixpath.normpath(f"{site}/{name}")
        if name and name[0] != "/" and one.startswith((f"{site}/", *beside)):
            yield one


def _debian(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        one = posixpath.normpath(line) if line.startswith("/") else ""
        if one.startswith(_DPKG_PLACES) and not one.startswith("/usr/local/"):
            yield one
            if _MERGED.match(one):
                yield f"/usr{one}"
