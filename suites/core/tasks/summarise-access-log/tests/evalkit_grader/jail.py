"""What keeps delivered programs from the tests, the verdict and the grader?"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import resource
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

NOBODY = 65534
_NO_NEW_PRIVS = 38
_LIBC = ctypes.CDLL(None, use_errno=True)
_READ, _WRITE, _ON_FILES = 0b1101, 0b111111111111111, 0b100000000000111
"""Landlock's bits: execute, read files, list folders; all there is in version 3; those of them that fit a file."""


class Jail:
    """What keeps children from the tests, the verdict and this process."""

    def __init__(self, closed: Sequence[Path]) -> None:
        self._closed = [path.resolve() for path in closed]
        self.drops = _may_drop()
        """Whether children run as another user."""
        self.landlock: int = max(0, _LIBC.syscall(444, None, 0, 1))
        """The version of Landlock; 0 where there is none."""
        self._modes: dict[Path, int] = {}

    def close_off(self) -> None:
        """From here on nobody but us enters the tests and the verdict's folder, where children are others."""
        if self.drops:
            for path in self._closed:
                if path.is_dir() and path.stat().st_uid == os.geteuid():
                    self._modes[path] = path.stat().st_mode & 0o7777
                    path.chmod(0o700)
            atexit.register(self.open_up)

    def open_up(self) -> None:
        """Give back the modes."""
        while self._modes:
            path, mode = self._modes.popitem()
            path.chmod(mode)

    def hand_over(self, root: Path) -> None:
        """Give a scratch folder to the children's user."""
        if not self.drops:
            return
        for _, _, files, fd in os.fwalk(root):  # by descriptors: another child may be at work in it
            os.fchown(fd, NOBODY, NOBODY)
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    if os.stat(name, dir_fd=fd, follow_symlinks=False).st_nlink == 1:
                        os.chown(name, NOBODY, NOBODY, dir_fd=fd, follow_symlinks=False)

    def enter(self, root: Path, seconds: float) -> None:
        """In the child, before it becomes the agent's program."""
        cpu = int(seconds * 4) + 5
        for limit, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, cpu),
            (resource.RLIMIT_FSIZE, 512 << 20),
            (resource.RLIMIT_DATA, 2 << 30),
            (resource.RLIMIT_NOFILE, 1024),
        ):
            hard = resource.getrlimit(limit)[1]
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (bound, bound))
        _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self.landlock:
            self._restrict(root)
        if self.drops:
            _become_nobody()

    def _restrict(self, root: Path) -> None:
        known = _WRITE if self.landlock > 2 else _WRITE >> (3 - self.landlock)
        scoped = 0b11 if self.landlock > 5 else 0
        attributes = (ctypes.c_uint64 * 3)(known, 0, scoped)
        ruleset = _LIBC.syscall(444, attributes, 24 if scoped else 8, 0)
        for path in self._readable(Path("/")):
            _rule(ruleset, path, _READ & known)
        for path in (root, Path("/dev"), Path("/tmp")):  # noqa: S108 - as a program finds it anywhere
            if not any(path == closed or path in closed.parents for closed in self._closed):
                _rule(ruleset, path, known)
        if ruleset < 0 or _LIBC.syscall(446, ruleset, 0):
            raise OSError(ctypes.get_errno(), "Landlock")
        os.close(ruleset)

    def _readable(self, folder: Path) -> Iterator[Path]:
        """The whole tree but for what is closed, in as few folders as can be."""
        if folder in self._closed:
            return
        if not any(folder in closed.parents for closed in self._closed):
            yield folder
            return
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                if not path.is_symlink():
                    yield from self._readable(path)


def _may_drop() -> bool:
    """Whether a child may become nobody, and still reach scratch folders and this Python."""
    if os.geteuid() != 0:
        return False
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(OSError):
            _become_nobody()
            code = (
                0 if all(os.access(path, os.X_OK) for path in (tempfile.gettempdir(), sys.executable)) else 1
            )
        os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _rule(ruleset: int, path: Path, access: int) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        access &= -1 if path.is_dir() else _ON_FILES
        _LIBC.syscall(445, ruleset, 1, struct.pack("=Qi", access, handle), 0)
        os.close(handle)
