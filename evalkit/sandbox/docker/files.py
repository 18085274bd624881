"""How is one file in a container read or written from outside?"""

from __future__ import annotations

import errno
import os
import posixpath

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.complaint import NotThere, Refused
from evalkit.sandbox.docker.engine import Engine, PathStatus
from evalkit.sandbox.docker.transfer import Owner, Upload

MAX_LINKS = 40
_CHUNK = 1024 * 1024


def read(engine: Engine, container: str, path: str, max_bytes: int) -> bytes:
    """A regular file's content; links lead where they lead inside. Raises as `Sandbox.read_file` says."""
    for _ in range(MAX_LINKS):
        with _as_inside(path), engine.download(container, path) as members:
            for member in members:
                if member.kind == "link":
                    break
                if member.kind == "dir":
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
                if member.content is None:
                    raise SandboxError(f"{path} is not a regular file")
                if member.size > max_bytes:
                    raise SandboxError(f"{path} is larger than {max_bytes} bytes")
                return member.content.read()
            else:
                raise SandboxError(f"{path} is not a regular file")
        path = _end_of_link(engine, container, path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def write(engine: Engine, container: str, path: str, data: bytes, *, mode: int, owner: Owner) -> None:
    """Write a regular file, making its folders. An existing one is replaced, whatever its mode."""
    path = posixpath.normpath(path) if ".." not in path.split("/") else path
    missing: list[str] = []
    status = _status(engine, container, path)
    if status is not None and status.is_link:
        path = _end_of_link(engine, container, path)
        status = _status(engine, container, path)
    if status is not None and status.is_folder:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if status is not None and not status.is_file:
        raise SandboxError(f"{path} is not a regular file, so nothing was written to it")
    folder, name = posixpath.split(path)
    while status is None and folder != "/" and _status(engine, container, folder) is None:
        folder, part = posixpath.split(folder)
        missing.append(part)
    upload = Upload()
    below = ""
    for part in reversed(missing):
        below = posixpath.join(below, part)
        upload.folder(below, 0o755, owner)
    upload.data(posixpath.join(below, name), mode, owner, data)
    with _as_inside(path):
        engine.upload(container, folder, upload.finished())


def _status(engine: Engine, container: str, path: str) -> PathStatus | None:
    try:
        with _as_inside(path):
            return engine.status(container, path)
    except FileNotFoundError:
        return None


def _end_of_link(engine: Engine, container: str, path: str) -> str:
    with _as_inside(path):
        return engine.status(container, path).target or path


class _as_inside:  # noqa: N801  -- used as a function
    """Turns what the engine says about a path into the error that a program inside would get."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Refused):
            return
        said = error.said.lower()
        if "no such container" in said:
            return
        if isinstance(error, NotThere):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._path) from error
        if "too many links" in said or "too many levels" in said:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path) from error
        if "not a directory" in said:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self._path) from error
