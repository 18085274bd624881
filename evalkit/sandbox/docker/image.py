"""Which image does a sandbox start from, and how is it made or fetched?

A Dockerfile's folder is built once per content, whoever asks first: the tag carries the digest of everything that
the build can see, and a file lock holds off other trials and processes meanwhile. Built images are kept until
`leftovers` finds them unused. A build that fails is not tried again for those who waited for it.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import os
import re
import socket
import stat
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox.docker import records
from evalkit.sandbox.docker.complaint import DISK_HINT, NotThere
from evalkit.sandbox.docker.engine import Engine, Image
from evalkit.sandbox.docker.records import Layers, Record
from evalkit.sandbox.docker.wish import Wish
from evalkit.sandbox.protocol import Environment

DEFAULT_IMAGE = "debian:bookworm-slim"
BUILT = "evalkit-build"
LABEL = "evalkit.build"
_LOG_LINES, _LOG_CHARS = 30, 3000
_CACHES = ("**/__pycache__", "**/*.pyc")
"""Never sent: importing a task's Python files leaves them, and that must change nothing."""
_LAYER = re.compile(r"^ ?-{2,3}> ([0-9a-f]{11,64})\s*$", re.MULTILINE)
_FROM = re.compile(r"^step \d+/\d+ ?: from [^\n]*\s*\Z", re.IGNORECASE | re.MULTILINE)


def find_image(engine: Engine, environment: Environment, wish: Wish) -> Image:
    """The environment's image, which is pulled or built where it is not there yet.

    Raises SandboxError where it cannot be had, TaskError for a Dockerfile that cannot be read, and Abandoned.
    """
    if environment.image is None and environment.dockerfile is not None:
        return _built(engine, environment.dockerfile, wish)
    name = environment.image or DEFAULT_IMAGE
    with contextlib.suppress(NotThere):
        return engine.image(name)
    with records.alone(hashlib.sha256(name.encode()).hexdigest(), lambda: wish.given_up) as record:
        record.touch()
        with contextlib.suppress(NotThere):
            return engine.image(name)
        making = engine.making()
        try:
            with wish.bounding(making.give_up):
                collections.deque(making.pull(name), maxlen=0)
            return engine.image(name)
        except SandboxError as error:
            raise SandboxError(
                f"the image {name} is not here and cannot be pulled: {error.message}",
                hint=f"Check its name and the network, or bring it here: docker load, or docker import FILE {name}.",
            ) from error
        finally:
            making.give_up()


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


def _built(engine: Engine, dockerfile: Path, wish: Wish) -> Image:
    try:
        digest = context_digest(dockerfile)
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"the image's files cannot be read: {error}", where=str(dockerfile)) from error
    tag, began = f"{BUILT}:{digest}", time.monotonic()
    with records.shared(digest) as record, contextlib.suppress(NotThere):
        if record is not None:
            record.touch()
            return engine.image(tag)
    with records.alone(digest, lambda: wish.given_up) as record:
        record.touch()
        with contextlib.suppress(NotThere):
            return engine.image(tag)
        failed_at, failure = engine.failures.get(digest, (began, None))
        if failure is not None and failed_at > began:  # it is the build that was waited for
            raise SandboxError(failure.message, where=failure.where, hint=failure.hint)
        try:
            _build(engine, dockerfile, tag, wish, record)
            return engine.image(tag)
        except SandboxError as error:
            engine.failures[digest] = time.monotonic(), error
            raise
        finally:
            record.touch()


def _build(engine: Engine, dockerfile: Path, tag: str, wish: Wish, record: Record) -> None:
    from docker.utils.build import (  # pyright: ignore[reportMissingTypeStubs]
        create_archive,  # pyright: ignore[reportUnknownVariableType]
    )

    log: collections.deque[str] = collections.deque(maxlen=_LOG_LINES)
    layers: collections.deque[str] = collections.deque(maxlen=records.MAX_LAYERS)
    since, making = engine.clock(), engine.making()
    with tempfile.TemporaryFile() as context:
        create_archive(str(dockerfile.parent), files=context_files(dockerfile), fileobj=context)
        context.seek(0)
        try:
            with wish.bounding(making.give_up):
                for line in making.build(context, dockerfile.name, tag, {LABEL: builder()}):
                    log.append(line)
                    layers += _LAYER.findall(line)
        except SandboxError as error:
            raise _build_failed(dockerfile, error, "".join(log)) from error
        finally:
            making.give_up()
            record.add(Layers(since, tuple(layers)))


def _build_failed(dockerfile: Path, error: SandboxError, said: str) -> SandboxError:
    """The error with the end of the build's log, and what to do."""
    hint = error.hint or "Build it by hand to see more: docker build ."
    if "no space left on device" in f"{said} {error.message}".lower():
        hint = DISK_HINT
    elif _FROM.search(said):
        hint = "The image that it starts FROM cannot be had: check its name and the network, or `docker load` it."
    return SandboxError(
        f"the image cannot be built: {error.message}\n{said[-_LOG_CHARS:].strip()}".strip(),
        where=str(dockerfile),
        hint=hint,
    )


def builder() -> str:
    """What stands in the label of the images that this user builds on this machine."""
    return f"{socket.gethostname()}:{os.geteuid()}"
