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

from evalkit.errors import SandboxError, TaskError, TrialError
from evalkit.sandbox.docker import records
from evalkit.sandbox.docker.complaint import DISK_HINT, NotThere, Refused, is_no_reference
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
_STEP = re.compile(r"^step \d+/\d+ ?: *(.+)", re.IGNORECASE)
_STEP_CHARS = 120
_FROM = re.compile(r"from (?:--\S+ )*(\S+)", re.IGNORECASE)
_EXIT = re.compile(r"(?:non-zero code:|exit status) (\d+)\s*\Z")
_BAD_DOCKERFILE = re.compile(
    r"dockerfile parse error|the dockerfile \([^\n]*\) cannot be empty|no build stage in current context"
    r"|the --\w+ option requires buildkit|(copy|add) failed: file not found in build context",
    re.IGNORECASE,
)
"""How an engine's error begins that the next build would end with as well."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def find_image(engine: Engine, environment: Environment, wish: Wish) -> Image:
    """The environment's image, which is pulled or built where it is not there yet.

    Raises SandboxError where it cannot be had, TaskError for a Dockerfile that cannot be read or understood and for
    what is no image's name, and Abandoned.
    """
    if environment.image is None and environment.dockerfile is not None:
        return _built(engine, environment.dockerfile, wish)
    name = environment.image or DEFAULT_IMAGE
    try:
        return _fetched(engine, name, wish)
    except Refused as error:
        if is_no_reference(error.said):
            raise TaskError(
                f"{name!r} is no image's name: {error.said}",
                hint="Change docker_image in task.toml; it looks like debian:bookworm-slim or HOST/NAME:TAG.",
            ) from error
        raise


def _fetched(engine: Engine, name: str, wish: Wish) -> Image:
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
            if isinstance(error, Refused) and is_no_reference(error.said):
                raise
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
            kind = TaskError if isinstance(failure, TaskError) else SandboxError
            raise kind(failure.message, where=failure.where, hint=failure.hint)
        try:
            _build(engine, dockerfile, tag, wish, record)
            return engine.image(tag)
        except (SandboxError, TaskError) as error:
            engine.failures[digest] = time.monotonic(), error
            raise
        finally:
            record.touch()


def _build(engine: Engine, dockerfile: Path, tag: str, wish: Wish, record: Record) -> None:
    from docker.utils.build import (  # pyright: ignore[reportMissingTypeStubs]
        create_archive,  # pyright: ignore[reportUnknownVariableType]
    )

    step, log = "", collections.deque[str](maxlen=_LOG_LINES)
    layers: collections.deque[str] = collections.deque(maxlen=records.MAX_LAYERS)
    since, making = engine.clock(), engine.making()
    with tempfile.TemporaryFile() as context:
        create_archive(str(dockerfile.parent), files=context_files(dockerfile), fileobj=context)
        context.seek(0)
        try:
            with wish.bounding(making.give_up):
                for line in making.build(context, dockerfile.name, tag, {LABEL: builder()}):
                    log.append(line)
                    found = _STEP.match(line)
                    step = found[1] if found else step
                    layers += _LAYER.findall(line)
        except SandboxError as error:
            raise _build_failed(dockerfile, error, step.strip(), _ESCAPE.sub("", "".join(log))) from error
        finally:
            making.give_up()
            record.add(Layers(since, tuple(layers)))


def _build_failed(dockerfile: Path, error: SandboxError, step: str, log: str) -> TrialError:
    """The error, whose first line says what failed, with the end of the build's log, and what to do.

    The task's fault where the next build would say the same; a command that fails may find the network the next time.
    """
    said = _ESCAPE.sub("", error.said if isinstance(error, Refused) else error.message).strip()
    base, code = _FROM.match(step), _EXIT.search(said)
    kind, hint = SandboxError, error.hint or "Build it by hand to see more: docker build ."
    problem = f"{_shortened(step)}: exit code {code[1]}" if step and code else said
    if "no space left on device" in f"{log} {said}".lower():
        hint = DISK_HINT
    elif _BAD_DOCKERFILE.match(said):
        kind, hint = TaskError, "Change the Dockerfile; see the line with: docker build ."
    elif base and is_no_reference(said):
        kind, hint = TaskError, "Change the Dockerfile: FROM needs a name such as debian:bookworm-slim."
        problem = f"{base[1]!r} is no image's name: {said}"
    elif base and isinstance(error, Refused):
        problem = f"the image {base[1]} that it starts FROM is not here and cannot be pulled: {said}"
        hint = (
            f"Check its name and the network, or bring it here: docker load, or docker import FILE {base[1]}."
        )
    return kind(
        f"the image cannot be built: {problem}\n{log[-_LOG_CHARS:].strip()}".strip(),
        where=str(dockerfile),
        hint=hint,
    )


def _shortened(step: str) -> str:
    return step if len(step) <= _STEP_CHARS else f"{step[: _STEP_CHARS - 1]}…"


def builder() -> str:
    """What stands in the label of the images that this user builds on this machine."""
    return f"{socket.gethostname()}:{os.geteuid()}"
