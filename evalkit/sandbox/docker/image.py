"""Which image does a sandbox start from, and how is it made or fetched?

A Dockerfile's folder is built once per content, whoever asks first: the tag carries the digest of everything that
the build can see, and a file lock holds off other trials and processes meanwhile. Built images are kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox.docker.complaint import DISK_HINT, NotThere
from evalkit.sandbox.docker.engine import Engine, Image
from evalkit.sandbox.local.scratch import base_folder
from evalkit.sandbox.protocol import Environment

DEFAULT_IMAGE = "debian:bookworm-slim"
BUILT = "evalkit-build"
MAX_BUILD_S = 3600.0
_LOG_LINES, _LOG_CHARS = 30, 3000
_CACHES = ("**/__pycache__", "**/*.pyc")
"""Never sent: importing a task's Python files leaves them, and that must change nothing."""


class Abandoned(Exception):
    """Nobody waits for the image any more."""


def find_image(engine: Engine, environment: Environment, abandoned: Callable[[], bool]) -> Image:
    """The environment's image, which is pulled or built where it is not there yet.

    Raises SandboxError where it cannot be had, TaskError for a Dockerfile that cannot be read, and Abandoned.
    """
    if environment.image is None and environment.dockerfile is not None:
        return _built(engine, environment.dockerfile, abandoned)
    name = environment.image or DEFAULT_IMAGE
    with contextlib.suppress(NotThere):
        return engine.image(name)
    with _lock(hashlib.sha256(name.encode()).hexdigest(), abandoned):
        with contextlib.suppress(NotThere):
            return engine.image(name)
        try:
            _follow(engine.pull(name), abandoned)
            return engine.image(name)
        except SandboxError as error:
            raise SandboxError(
                f"the image {name} is not here and cannot be pulled: {error.message}",
                hint=f"Check its name and the network, or bring it here: docker load, or docker import FILE {name}.",
            ) from error


def context_digest(dockerfile: Path) -> str:
    """sha256 over every path, mode and content that a build from this Dockerfile can see."""
    digest = hashlib.sha256()
    root = dockerfile.parent
    for name in context_files(dockerfile):
        path = root / name
        status = path.lstat()
        content = b""
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            with path.open("rb") as source:
                content = hashlib.file_digest(source, "sha256").digest()
        kind = stat.S_IFMT(status.st_mode) | (status.st_mode & 0o111)
        digest.update(f"{name}\0{kind:o}\0".encode("utf-8", "surrogateescape"))
        digest.update(hashlib.sha256(content).digest())
    digest.update(dockerfile.name.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def context_files(dockerfile: Path) -> list[str]:
    """Everything in the Dockerfile's folder that .dockerignore does not leave out; relative, sorted."""
    from docker.utils.build import exclude_paths  # pyright: ignore[reportMissingTypeStubs]

    root = dockerfile.parent
    ignore = root / ".dockerignore"
    lines = ignore.read_text("utf-8").splitlines() if ignore.is_file() else []
    patterns = [*_CACHES, *(line.strip() for line in lines if line.strip() and not line.startswith("#"))]
    found: Iterable[str] = exclude_paths(str(root), patterns, dockerfile=dockerfile.name)
    return sorted(found)


def _built(engine: Engine, dockerfile: Path, abandoned: Callable[[], bool]) -> Image:
    try:
        digest = context_digest(dockerfile)
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"the image's files cannot be read: {error}", where=str(dockerfile)) from error
    tag = f"{BUILT}:{digest}"
    with contextlib.suppress(NotThere):
        return engine.image(tag)
    with _lock(digest, abandoned):
        with contextlib.suppress(NotThere):
            return engine.image(tag)
        _build(engine, dockerfile, tag, abandoned)
        return engine.image(tag)


def _build(engine: Engine, dockerfile: Path, tag: str, abandoned: Callable[[], bool]) -> None:
    from docker.utils.build import (  # pyright: ignore[reportMissingTypeStubs]
        create_archive,  # pyright: ignore[reportUnknownVariableType]
    )

    log: deque[str] = deque(maxlen=_LOG_LINES)
    with tempfile.TemporaryFile() as context:
        create_archive(str(dockerfile.parent), files=context_files(dockerfile), fileobj=context)
        context.seek(0)
        try:
            _follow(engine.build(context, dockerfile.name, tag, {"evalkit.build": "1"}), abandoned, log)
        except SandboxError as error:
            said = "".join(log)[-_LOG_CHARS:].strip()
            full = "no space left on device" in f"{said} {error.message}".lower()
            raise SandboxError(
                f"the image cannot be built: {error.message}\n{said}".strip(),
                where=str(dockerfile),
                hint=DISK_HINT if full else error.hint or "Build it by hand to see more: docker build .",
            ) from error


def _follow(lines: Generator[str], abandoned: Callable[[], bool], log: deque[str] | None = None) -> None:
    """Wait for a pull or build to end; each line of it is a chance to give up."""
    deadline = time.monotonic() + MAX_BUILD_S
    with contextlib.closing(lines):
        for line in lines:
            if log is not None:
                log.append(line)
            if abandoned():
                raise Abandoned
            if time.monotonic() > deadline:
                raise SandboxError(f"it took longer than {MAX_BUILD_S:.0f} s")


@contextlib.contextmanager
def _lock(name: str, abandoned: Callable[[], bool]) -> Generator[None]:
    """Hold off everybody else of this user who wants the same image."""
    base = base_folder()
    base.mkdir(parents=True, exist_ok=True, mode=0o711)
    handle = os.open(
        base / f"image-{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if abandoned():
                    raise Abandoned from None
                time.sleep(0.1)
        yield
    finally:
        os.close(handle)
