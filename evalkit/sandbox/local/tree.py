"""How are a sandbox's files reached from outside without ever leaving its folder?

A path inside may lead through links that the agent made. Links are resolved here, by hand, as the sandbox
would resolve them: the private folder stands for `/`, and every step opens one name without following
links.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox.local.bubblewrap import Account
from evalkit.sandbox.local.removal import remove_at
from evalkit.sandbox.snapshot import open_file
from evalkit.sandbox.walk import OPEN_FOLDER, open_again, restore

MAX_LINKS = 40
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Tree:
    """The writable folders of one sandbox, seen from the host."""

    root: Path
    tops: frozenset[str]
    """Names of the top-level folders that are the sandbox's own."""
    owner: Account

    @contextlib.contextmanager
    def parent_of(
        self,
        path: str,
        *,
        make: bool = False,
        follow: bool = True,
        follow_last: bool = True,
        replace: bool = False,
    ) -> Generator[tuple[int, str], None, None]:
        """The open folder that holds `path`, and its name there; the name itself may be missing.

        `make` creates missing folders on the way, and opens the last one for writing. Without `follow`, a link on
        the way is DeliverableRefused, or with `replace` it is removed, as is all else on the way that is no folder.
        Folders that their owner may not use are opened up for as long as they are needed. Raises the OSError that a
        program of root's would see, and SandboxError for folders of the machine.
        """
        walker = _Resolver(self, path, make=make, follow=follow, follow_last=follow_last, replace=replace)
        try:
            yield walker.resolve()
        finally:
            walker.close()

    def make_folder(self, path: str, mode: int = 0o755) -> None:
        """Make a folder and its parents; an existing one is left as it is."""
        with self.parent_of(f"{path}/.", make=True):
            pass
        if mode != 0o755:
            with self.open_folder(path) as folder:
                os.fchmod(folder, mode)

    @contextlib.contextmanager
    def open_folder(self, path: str) -> Generator[int, None, None]:
        """An existing folder, open for reading. Raises FileNotFoundError or NotADirectoryError."""
        with self.parent_of(f"{path}/.") as (folder, _):
            yield folder

    def write(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a regular file, making its parents. Existing files keep their place but not their content."""
        with self.parent_of(path, make=True) as (folder, name):
            self.write_at(folder, name, data, mode=mode, path=path)

    def write_at(self, folder: int, name: str, data: bytes, *, mode: int, path: str) -> None:
        """Write a regular file into an open folder."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(name, flags, 0o600, dir_fd=folder)
        except PermissionError:
            allow_writing(folder, name)
            handle = os.open(name, flags, 0o600, dir_fd=folder)
        with os.fdopen(handle, "wb") as out:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SandboxError(f"{path} is not a regular file, so nothing was written to it")
            self.adopt(handle)
            os.fchmod(handle, mode)
            out.truncate(0)
            out.write(data)

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file's content. Raises as `Sandbox.read_file` says."""
        with self.parent_of(path) as (folder, name):
            try:
                handle = open_file(folder, name)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    raise SandboxError(f"{path} is not a regular file") from error
                error.filename = path
                raise
            with os.fdopen(handle, "rb") as source:
                status = os.fstat(handle)
                if stat.S_ISDIR(status.st_mode):
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
                if not stat.S_ISREG(status.st_mode):
                    raise SandboxError(f"{path} is not a regular file")
                data = source.read(max_bytes + 1)
                if len(data) > max_bytes:
                    raise SandboxError(f"{path} is larger than {max_bytes} bytes")
                return data

    def adopt(self, handle: int) -> None:
        """Give an open file or folder to the user that the sandbox runs as."""
        if self.owner.switch:
            os.fchown(handle, self.owner.uid, self.owner.gid)

    def adopt_at(self, folder: int, name: str) -> None:
        """Give a name in an open folder, link or not, to the user that the sandbox runs as."""
        if self.owner.switch:
            os.chown(name, self.owner.uid, self.owner.gid, dir_fd=folder, follow_symlinks=False)


class _Resolver:
    """Walks one path. Holds an open folder for every level, so that `..` never depends on the tree; where no link is
    followed there is no `..` either, and only the last folder is held.
    """

    def __init__(
        self, tree: Tree, path: str, *, make: bool, follow: bool, follow_last: bool, replace: bool
    ) -> None:
        if not path.startswith("/") or "\0" in path or not (follow or ".." not in path.split("/")):
            raise SandboxError(f"{path!r} is no absolute path")
        self._tree, self._path = tree, path
        self._make, self._follow, self._follow_last, self._replace = make, follow, follow_last, replace
        self._parts = deque(path.split("/"))
        self._open = [os.open(tree.root, OPEN_FOLDER)]
        self._opened_up: list[tuple[int, int]] = []
        """Folders whose mode was changed, each with the mode that it had."""
        self._depth = 0
        self._links = 0

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())
        while self._opened_up:
            folder, mode = self._opened_up.pop()
            restore(folder, mode)
            os.close(folder)

    def resolve(self) -> tuple[int, str]:
        while self._parts:
            part = self._parts.popleft()
            if part == "..":
                if self._depth > 0:
                    os.close(self._open.pop())
                    self._depth -= 1
            elif part not in {"", "."}:
                found = self._step(part)
                if found:
                    self._allow_writing()
                    return self._open[-1], part
        self._allow_writing()
        return self._open[-1], "."

    def _step(self, part: str) -> bool:
        """Go one name further; True where that name is the one looked for."""
        if self._depth == 0 and part not in self._tree.tops:
            raise SandboxError(
                f"{self._path} is not in a folder of this sandbox's own",
                hint="Read the machine's files with `exec`; declare folders to write to beforehand.",
            )
        last = not self._parts
        try:
            status = os.stat(part, dir_fd=self._open[-1], follow_symlinks=False)
        except FileNotFoundError:
            if last:
                return True
            if not self._make:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._path) from None
            self._make_folder(part)
            return False
        if stat.S_ISLNK(status.st_mode) and not (last and not self._follow_last) and not self._replace:
            self._go_through(part)
            return False
        if last:
            return True
        if self._replace and not stat.S_ISDIR(status.st_mode):
            self._allow_writing()
            remove_at(self._open[-1], part)
            self._make_folder(part)
            return False
        self._enter(part)
        return False

    def _make_folder(self, part: str) -> None:
        self._allow_writing()
        os.mkdir(part, 0o755, dir_fd=self._open[-1])
        self._tree.adopt_at(self._open[-1], part)
        self._enter(part)

    def _go_through(self, part: str) -> None:
        if not self._follow:
            raise DeliverableRefused(f"{self._path} leads through a link: {part}", where=self._path)
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path)
        target = os.readlink(part, dir_fd=self._open[-1])
        if target.startswith("/"):
            while self._depth > 0:
                os.close(self._open.pop())
                self._depth -= 1
        self._parts.extendleft(reversed(target.split("/")))

    def _enter(self, part: str) -> None:
        if len(self._open) > MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), self._path)
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            by_path = os.open(part, flags, dir_fd=self._open[-1])
        except OSError as error:
            error.filename = self._path
            raise
        try:
            self._open.append(self._open_up(by_path, write=False))
        finally:
            os.close(by_path)
        self._depth += 1
        if not self._follow:
            os.close(self._open.pop(0))

    def _open_up(self, folder: int, *, write: bool) -> int:
        handle, mode = open_again(folder, reopen=True, write=write)
        if mode is not None:
            self._opened_up.append((os.dup(handle), mode))
        return handle

    def _allow_writing(self) -> None:
        """Let the owner write into the folder that was reached, which is the sandbox's own."""
        if self._make and self._depth > 0:
            handle = self._open_up(self._open[-1], write=True)
            os.close(self._open.pop())
            self._open.append(handle)


def allow_writing(folder: int, name: str) -> None:
    """Let the owner of an existing file write to it. By descriptor, so that no link is followed."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o600)
    finally:
        os.close(handle)
