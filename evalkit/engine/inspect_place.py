"""In which of our sandboxes does a sample of an Inspect task run?

Nothing, `local`, and `docker` with a Dockerfile, or with a compose file of one simple service, can be honoured.
Whatever else a task asks for is refused by name, before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from inspect_ai.util import (
    ComposeConfig,
    ComposeService,
    SandboxEnvironmentSpec,
    is_compose_yaml,
    parse_compose_yaml,
)
from pydantic import BaseModel

from evalkit.engine.inspect_sandbox import COMPOSE_FILES, FOREIGN
from evalkit.engine.inspect_suite import Place
from evalkit.errors import UsageError
from evalkit.sandbox import SandboxKind
from evalkit.sandbox.protocol import Limits

DEFAULT_IMAGE = "aisiuk/inspect-tool-support"
"""What Inspect takes where a task asks for docker and says no more."""
_HONOURED = frozenset({
    *("image", "build", "command", "entrypoint", "working_dir", "environment", "user", "network_mode", "init"),
    *("mem_limit", "cpus", "deploy", "x_default", "hostname", "stop_grace_period", "tty", "stdin_open", "restart"),
    *("pull_policy",),
})  # fmt: skip
_IDLE = re.compile(r"tail -f /dev/null|sleep (infinity|inf|\d+[smhd]?)|(/bin/)?(ba)?sh")
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)i?b?", re.IGNORECASE)
_MIB = {"": 2**-20, "k": 2**-10, "m": 1, "g": 1024}


def place_of(spec: SandboxEnvironmentSpec | None, folder: Path, asked: SandboxKind | None) -> Place | None:
    """Where to run what asks for `spec`; paths start at `folder`. `asked`: the kind that the user insists on.

    Raises UsageError for what our sandboxes cannot honour.
    """
    if spec is None:
        return None
    kind = spec.type.removeprefix("evalkit-")
    if kind == "local":
        if spec.config is not None:
            raise _refused(spec, "the local sandbox takes no configuration")
        return Place(asked or "local", FOREIGN)
    if kind != "docker":
        raise _refused(spec, f"evalkit has no sandbox of the kind {spec.type!r}")
    config = spec.config if spec.config is not None else _beside(folder)
    if config is None and asked == "local":
        return Place("local", FOREIGN)
    if asked == "local":
        raise _refused(
            spec, "it comes as an image, and --sandbox local was asked for", hint="Use --sandbox docker."
        )
    if config is None:
        return Place("docker", replace(FOREIGN, workdir="", image=DEFAULT_IMAGE))
    return _docker(spec, config, folder)


def _beside(folder: Path) -> str | None:
    """What Inspect finds beside a task that asks for docker and says no more."""
    return next((name for name in (*COMPOSE_FILES, "Dockerfile") if (folder / name).is_file()), None)


def _docker(spec: SandboxEnvironmentSpec, config: BaseModel | str, folder: Path) -> Place:
    if isinstance(config, ComposeConfig):
        return _composed(spec, config, folder)
    if not isinstance(config, str):
        raise _refused(spec, f"a configuration of the kind {type(config).__name__} is not known")
    path = folder / config
    if not path.is_file():
        raise _refused(spec, f"there is no file {path}")
    if is_compose_yaml(str(path)):
        try:
            parsed = parse_compose_yaml(str(path))
        except (ValueError, OSError) as error:
            raise _refused(spec, f"{path} cannot be read: {str(error).splitlines()[0]}") from error
        return _composed(spec, parsed, path.parent)
    if "Dockerfile" not in path.name:
        raise _refused(spec, f"{path} is neither a Dockerfile nor a compose file")
    return Place("docker", replace(FOREIGN, workdir="", dockerfile=path.resolve()))


def _composed(spec: SandboxEnvironmentSpec, config: ComposeConfig, folder: Path) -> Place:
    if len(config.services) != 1:
        raise _refused(
            spec, f"its compose file has {len(config.services)} services: {', '.join(config.services)}"
        )
    if config.volumes or config.networks:
        raise _refused(spec, "its compose file defines volumes or networks")
    ((name, service),) = config.services.items()
    asked = {key for key, value in service if value not in (None, False)} | set(service.model_extra or {})
    if unknown := sorted(key for key in asked - _HONOURED if not key.startswith("x-")):
        raise _refused(spec, f"its service {name!r} asks for {', '.join(unknown)}")
    for words in (service.command, service.entrypoint):
        text = words if isinstance(words, str) else " ".join(words or ())
        if text and not _IDLE.fullmatch(text.strip()):
            raise _refused(spec, f"its service {name!r} runs a program of its own: {text}")
    if service.network_mode not in (None, "none", "bridge"):
        raise _refused(spec, f"its service {name!r} asks for network_mode {service.network_mode!r}")
    environment = replace(
        FOREIGN,
        workdir=service.working_dir or "",
        env=_variables(spec, service),
        user=service.user,
        network=service.network_mode != "none",
        limits=_limits(spec, service),
    )
    if service.build is None:
        if service.image is None:
            raise _refused(spec, f"its service {name!r} names neither an image nor a build")
        return Place("docker", replace(environment, image=service.image))
    return Place("docker", replace(environment, dockerfile=_dockerfile(spec, service, folder)))


def _dockerfile(spec: SandboxEnvironmentSpec, service: ComposeService, folder: Path) -> Path:
    build = service.build
    context = build if isinstance(build, str) else (build.context if build else None) or "."
    extra = {} if isinstance(build, str) or build is None else dict(build.model_extra or {})
    if extra:
        raise _refused(spec, f"its build asks for {', '.join(sorted(extra))}")
    named = "Dockerfile" if isinstance(build, str) or build is None else build.dockerfile or "Dockerfile"
    path = (folder / context / named).resolve()
    if path.parent != (folder / context).resolve():
        raise _refused(spec, f"its Dockerfile {named} lies outside the build's context {context}")
    if not path.is_file():
        raise _refused(spec, f"there is no file {path}")
    return path


def _variables(spec: SandboxEnvironmentSpec, service: ComposeService) -> Mapping[str, str]:
    given = service.environment or {}
    if isinstance(given, list):
        given = {name: value if eq else None for name, eq, value in (text.partition("=") for text in given)}
    if unset := sorted(name for name, value in given.items() if value is None or "$" in str(value)):
        raise _refused(spec, f"it takes variables of the host: {', '.join(unset)}")
    return {name: str(value) for name, value in given.items()}


def _limits(spec: SandboxEnvironmentSpec, service: ComposeService) -> Limits:
    deployed = service.deploy.resources.limits if service.deploy and service.deploy.resources else None
    cpus = service.cpus if service.cpus is not None else deployed.cpus if deployed else None
    memory = service.mem_limit or (deployed.memory if deployed else None)
    size = None if memory is None else _BYTES.fullmatch(memory.strip())
    if memory is not None and size is None:
        raise _refused(spec, f"its memory limit {memory!r} is no size")
    mib = None if size is None else max(1, round(float(size[1]) * _MIB[size[2].lower()]))
    return Limits(cpus=None if cpus is None else float(cpus), memory_mb=mib)


def _refused(spec: SandboxEnvironmentSpec, why: str, hint: str | None = None) -> UsageError:
    config = spec.config if isinstance(spec.config, str) else None
    return UsageError(
        f"the task's sandbox ({spec.type}) cannot be had: {why}",
        where=config,
        hint=hint
        or "evalkit runs Inspect tasks without a sandbox, in local, or in docker with an image, a "
        "Dockerfile, or a compose file of one simple service.",
    )
