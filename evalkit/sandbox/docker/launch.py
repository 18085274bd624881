"""How does a container come to life with its files, and what if the engine cannot do what is asked?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anyio import CapacityLimiter, to_thread

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox.docker import container, delivery
from evalkit.sandbox.docker.channel import outside
from evalkit.sandbox.docker.complaint import NO_SH, Refused, is_too_little_memory
from evalkit.sandbox.docker.engine import Engine, Image
from evalkit.sandbox.docker.image import find_image
from evalkit.sandbox.docker.placement import Placements, clean_path, gather
from evalkit.sandbox.docker.transfer import Owner, Upload
from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.docker.wire import Wire
from evalkit.sandbox.docker.wish import Abandoned, Wish
from evalkit.sandbox.protocol import Environment

_RUNTIME_WHERE = "evalkit.toml, [sandbox] runtime"


@dataclass(frozen=True, slots=True)
class Plan:
    """A container that is to be."""

    name: str
    environment: Environment
    image: Image
    labels: Mapping[str, str]
    runtime: str | None
    workdir: str
    user: str


class ImageGone(Exception):
    """The image was removed since it was found."""


async def found_image(engine: Engine, environment: Environment, wish: Wish) -> Image:
    """Find or make the image. A build or pull ends with its caller; it has a thread of its own, as it may take long."""
    try:
        return await to_thread.run_sync(
            find_image, engine, environment, wish, abandon_on_cancel=True, limiter=CapacityLimiter(1)
        )
    except Abandoned:
        raise SandboxError("the sandbox was stopped while its image was made") from None


async def launch(engine: Engine, plan: Plan) -> Warden:
    """Make and run a container with its files; removing what was made is the caller's.

    Raises ImageGone, TaskError for what no container can be made of, and SandboxError.
    """
    placements = await outside(lambda: gather(plan.environment))
    try:
        await outside(lambda: _create(engine, plan))
        warden = Warden(await Wire.on(await outside(lambda: engine.attach(plan.name))))
        try:
            await _run(engine, plan)
            with engine.waiting():
                await warden.ready()
                await _furnish(engine, plan, warden, placements)
        except BaseException:
            warden.close()
            raise
        return warden
    finally:
        placements.close()


def _create(engine: Engine, plan: Plan) -> None:
    config = container.config(plan.environment, plan.image, plan.labels)
    host = container.host_config(plan.environment, engine, plan.runtime, plan.labels)
    try:
        warnings = engine.create(plan.name, config, host)
    except Refused as error:
        if plan.runtime is not None and plan.runtime in error.said:
            raise unknown_runtime(engine, plan.runtime, error.said) from error
        if "no such image" in error.said.lower() or "image not known" in error.said.lower():
            raise ImageGone from error
        _blame_task(plan, error)
        raise
    container.check_warnings(warnings)
    if plan.runtime is not None and (taken := engine.runtime(plan.name)) != plan.runtime:
        raise unknown_runtime(engine, plan.runtime, f"it would use {taken or 'its own'}")


async def _run(engine: Engine, plan: Plan) -> None:
    try:
        await outside(lambda: engine.start(plan.name))
    except Refused as error:
        runtime, said = plan.runtime, error.said
        if runtime is not None and runtime in said:
            raise await outside(lambda: unknown_runtime(engine, runtime, said)) from error
        _blame_task(plan, error)
        raise


def _blame_task(plan: Plan, error: Refused) -> None:
    """Raise TaskError where the engine refused what the task asks for, as it would the next time."""
    asked = plan.environment.limits.memory_mb
    if error.said == NO_SH:
        raise TaskError(
            "the task's image has no sh",
            where=_image_named(plan.environment),
            hint="Start from an image with a POSIX sh (FROM in its Dockerfile, or docker_image in task.toml), "
            "or install one in the Dockerfile.",
        ) from error
    if asked is not None and is_too_little_memory(error.said):
        raise TaskError(
            f"memory_mb = {asked} is too little for a container: {error.said}",
            hint="Raise memory_mb in task.toml, under [environment].",
        ) from error


def _image_named(environment: Environment) -> str | None:
    """The Dockerfile, or the image's name."""
    if environment.image is None and environment.dockerfile is not None:
        return str(environment.dockerfile)
    return environment.image


def unknown_runtime(engine: Engine, runtime: str, said: str) -> SandboxError:
    """What it means that the engine did not take a runtime."""
    known = ", ".join(engine.runtimes()) or "none that it names"
    return SandboxError(
        f"the container engine cannot use the runtime {runtime}: {said}",
        where=_RUNTIME_WHERE,
        hint=f"Install it and name it in the engine's configuration, or use what it has: {known}.",
    )


async def _furnish(engine: Engine, plan: Plan, warden: Warden, placements: Placements) -> None:
    """Folders of the agent's first: where they were not in the image, they are its user's."""
    mine = [plan.workdir, *(clean_path(path) for path in plan.environment.private)]
    made = await warden.make_folders([shlex.quote(path) for path in mine], shlex.quote(plan.user))
    theirs = [shlex.quote(path) for path in placements.folders if path not in mine]
    made = await warden.make_folders(theirs, "0") and made
    if not made:
        await outside(lambda: _make_folders(engine, plan.name, [*placements.folders, *mine]))
    if not placements.empty:
        await outside(lambda: engine.upload(plan.name, "/", placements.tar()))


def _make_folders(engine: Engine, name: str, folders: Sequence[str]) -> None:
    """For images without mkdir: what is missing is uploaded, parents first."""
    tree = delivery.Tree(engine, name)
    upload = Upload()
    done: set[str] = set()
    for folder in folders:
        parts = folder.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            path = "/" + "/".join(parts[:depth])
            if path not in done and path != "/" and tree.is_there(path) is None:
                upload.folder(path, 0o755, Owner())
            done.add(path)
    engine.upload(name, "/", upload.finished())
