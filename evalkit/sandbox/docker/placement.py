"""How do files of the host come into a container before the agent does?"""

from __future__ import annotations

import os
import posixpath
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from evalkit.errors import TaskError
from evalkit.sandbox.docker.transfer import Owner, Upload
from evalkit.sandbox.protocol import Environment, Placement
from evalkit.sandbox.walk import OPEN_FOLDER, TreeChanged, walk

_HINT = "A task may place regular files, folders, and links; links are copied as links."
_ROOT = Owner()


class Placements:
    """One tar of everything that is placed, and the folders that it needs. Owned by root, readable by all."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  -- closed by `close`
        self._upload = Upload(self._file)
        self._placed: dict[str, str] = {}
        self.folders: dict[str, None] = {}
        """Absolute folders, parents first, that must be there before."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing but folders."""
        return not self._placed

    def take(self, placement: Placement) -> None:
        """Read one file, or a folder's contents. Raises TaskError for what is missing, or cannot be placed."""
        target = clean_path(placement.target)
        try:
            mode = placement.source.lstat().st_mode
            if stat.S_ISREG(mode):
                self._file_at(
                    target,
                    os.open(placement.source, os.O_RDONLY | os.O_CLOEXEC),
                    mode | (0o111 if placement.executable else 0),
                )
            elif stat.S_ISDIR(mode):
                self._folder(target)
                self._take_folder(placement.source, target)
            else:
                raise TaskError(
                    "only a file or a folder can be placed", where=str(placement.source), hint=_HINT
                )
        except (OSError, TreeChanged) as error:
            why = error.strerror if isinstance(error, OSError) else "it changes while it is read"
            raise TaskError(
                f"cannot be placed at {placement.target}: {why}", where=str(placement.source)
            ) from error

    def tar(self) -> Iterable[bytes]:
        """The archive; to be unpacked at /."""
        source = self._upload.finished()
        while chunk := source.read(1024 * 1024):
            yield chunk

    def close(self) -> None:
        """Drop what was read."""
        self._file.close()

    def _take_folder(self, source: Path, target: str) -> None:
        root = os.open(source, OPEN_FOLDER)
        try:
            for visit in walk(root, target.rstrip("/")):
                mode = visit.stat.st_mode
                if stat.S_ISDIR(mode):
                    self._folder(visit.path)
                elif stat.S_ISLNK(mode):
                    self._claim(visit.path, "link")
                    self._upload.link(visit.path, os.readlink(visit.name, dir_fd=visit.folder), _ROOT)
                elif stat.S_ISREG(mode):
                    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
                    self._file_at(visit.path, os.open(visit.name, flags, dir_fd=visit.folder), mode)
                else:
                    raise TaskError(
                        f"{visit.name} is a device, fifo or socket", where=str(source), hint=_HINT
                    )
        finally:
            os.close(root)

    def _file_at(self, target: str, handle: int, mode: int) -> None:
        with os.fdopen(handle, "rb") as content:
            self._claim(target, "file")
            size = os.fstat(content.fileno()).st_size
            # Two modes only, so that the umask of a checkout makes no difference to a trial.
            self._upload.file(target, 0o755 if mode & 0o111 else 0o644, _ROOT, size, content)

    def _folder(self, path: str) -> None:
        if self._placed.get(path) is not None:
            raise NotADirectoryError(20, "Not a directory")
        if path != "/" and path not in self.folders:
            self._folder(posixpath.dirname(path))
            self.folders[path] = None

    def _claim(self, path: str, kind: str) -> None:
        self._folder(posixpath.dirname(path))
        if path in self.folders:
            raise IsADirectoryError(21, "Is a directory")
        self._placed[path] = kind


def gather(environment: Environment) -> Placements:
    """Everything that is placed; what a Dockerfile's COPY lines bring is in the image already."""
    placements = Placements()
    try:
        for placement in environment.files:
            placements.take(placement)
    except BaseException:
        placements.close()
        raise
    return placements


def clean_path(path: str) -> str:
    """An absolute path in normal form. Raises TaskError for what is none."""
    if not path.startswith("/") or "\0" in path or "\n" in path or ".." in path.split("/"):
        raise TaskError(f"{path!r} is not an absolute path that can be placed")
    return posixpath.normpath(path).replace("//", "/")
