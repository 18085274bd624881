"""Which fields does Harbor's task format (schema 1.4) have, and which values may they take?

The names are Harbor's. Keys that Harbor may add later are kept and warned about by `unknown_keys`.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evalkit.tasks.network import AllowedHosts, NetworkMode, network_fits
from evalkit.tasks.paths import plain_path

SCHEMA_VERSION = "1.4"

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Timeout = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Megabytes = Annotated[int, Field(gt=0)]
User = str | int

_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TOPOLOGY = re.compile(r"[1-9][0-9]*(x[1-9][0-9]*)+")
_STEP_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_DEVICE_NAME = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9¹²³])", re.IGNORECASE)


def _step_name(name: str) -> str:
    stem = name.partition(".")[0].rstrip(" ")
    unusable = (
        not name.strip() or name in {".", ".."} or name.endswith((".", " ")) or len(name.encode()) > 255
    )
    if unusable or _STEP_FORBIDDEN.search(name) or _DEVICE_NAME.fullmatch(stem):
        raise ValueError(f"{name!r} cannot be the name of a folder on every system")
    return name


def _service(name: str) -> str:
    if not _SERVICE.fullmatch(name.strip()):
        raise ValueError(f"{name!r} is no name of a compose service")
    return name.strip()


def _package(name: str) -> str:
    if not _PACKAGE.fullmatch(name) or ".." in name:
        raise ValueError(f"{name!r} should have the form organisation/name")
    return name


def _topology(text: str) -> str:
    if not _TOPOLOGY.fullmatch(text.strip()):
        raise ValueError(f"{text!r} should look like 2x4 or 2x2x1")
    return text.strip()


def _artifact_destination(path: str) -> str | None:
    if not path:
        return None
    parts = path.split("/")
    if (
        path.startswith("/")
        or "\\" in path
        or ".." in parts
        or posixpath.normpath(path) in {".", "manifest.json"}
    ):
        raise ValueError(
            f"an artifact's destination should be a relative path below the artifacts, not {path!r}"
        )
    return path


def _as_table(value: object) -> object:
    return {"source": value} if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _http(value: object) -> object:
    return "streamable-http" if value == "http" else value


Service = Annotated[str, AfterValidator(_service)]


class Table(BaseModel):
    """A table of Harbor's: keys that it does not know are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Network(Table):
    """Who may be reached. None: not said here."""

    network_mode: NetworkMode | None = None
    allowed_hosts: AllowedHosts | None = None

    @model_validator(mode="after")
    def _hosts_need_an_allowlist(self) -> Self:
        network_fits(self.network_mode, self.allowed_hosts)
        return self


class Author(Table):
    """Who wrote a task."""

    name: str
    email: str | None = None


class Package(Table):
    """`[task]`: how the task is known in a registry."""

    name: Annotated[str, AfterValidator(_package)]
    version: str | None = Field(default=None, min_length=1)
    description: str = ""
    authors: tuple[Author, ...] = ()
    keywords: tuple[str, ...] = ()


class Healthcheck(Table):
    """A command that must succeed before the agent starts."""

    command: str
    interval_sec: Seconds = 5.0
    timeout_sec: Timeout = 30.0
    start_period_sec: Seconds = 0.0
    start_interval_sec: Seconds = 5.0
    retries: int = Field(default=3, ge=0)


class Tpu(Table):
    """A TPU slice."""

    type: str = Field(min_length=1)
    topology: Annotated[str, AfterValidator(_topology)]


class McpServer(Table):
    """An MCP server that the agent may use."""

    name: str
    transport: Annotated[Literal["stdio", "sse", "streamable-http"], BeforeValidator(_http)] = "sse"
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    headers: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _transport_is_complete(self) -> Self:
        if self.transport == "stdio" and not self.command:
            raise ValueError("an MCP server over stdio needs command")
        if self.transport != "stdio" and not self.url:
            raise ValueError(f"an MCP server over {self.transport} needs url")
        if self.transport == "stdio" and self.headers:
            raise ValueError("an MCP server over stdio has no headers")
        return self


class EnvironmentTable(Network):
    """`[environment]`: the machine that the agent works on."""

    build_timeout_sec: Timeout = 600.0
    docker_image: str | None = Field(default=None, min_length=1)
    os: Annotated[Literal["linux", "windows"], BeforeValidator(_lower)] = "linux"
    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory_mb: Megabytes | None = None
    storage_mb: Megabytes | None = None
    gpus: int | None = Field(default=None, ge=0)
    gpu_types: tuple[str, ...] | None = None
    tpu: Tpu | None = None
    mcp_servers: tuple[McpServer, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    skills_dir: str | None = None
    healthcheck: Healthcheck | None = None
    workdir: Annotated[str, AfterValidator(plain_path)] | None = None


class AgentTable(Network):
    """`[agent]`."""

    timeout_sec: Timeout | None = None
    user: User | None = None


class Collect(Table):
    """A command that saves state into files after the agent's end."""

    command: str
    service: Service = "main"
    timeout_sec: Timeout = 60.0
    user: User | None = None


class VerifierTable(Network):
    """`[verifier]`: how tests/test.sh is run."""

    timeout_sec: Timeout = 600.0
    env: dict[str, str] = Field(default_factory=dict)
    user: User | None = None
    environment_mode: Literal["shared", "separate"] | None = None
    environment: EnvironmentTable | None = None
    collect: tuple[Collect, ...] = ()

    @model_validator(mode="after")
    def _shared_has_no_environment(self) -> Self:
        if self.environment_mode == "shared" and self.environment is not None:
            raise ValueError('environment_mode = "shared" and [verifier.environment] exclude each other')
        return self

    @property
    def mode(self) -> Literal["shared", "separate"] | None:
        """Where the verifier runs, as far as this table says it."""
        return self.environment_mode or ("separate" if self.environment is not None else None)


class SolutionTable(Table):
    """`[solution]`."""

    env: dict[str, str] = Field(default_factory=dict)


class Artifact(Table):
    """A path that leaves the sandbox at the end."""

    source: Annotated[str, AfterValidator(plain_path)]
    destination: Annotated[str, AfterValidator(_artifact_destination)] | None = None
    exclude: tuple[str, ...] = ()
    service: Service | None = None

    @property
    def is_main(self) -> bool:
        """Whether it comes from the agent's own container."""
        return self.service in (None, "main")

    @model_validator(mode="after")
    def _other_services_need_absolute_paths(self) -> Self:
        if not self.is_main and not self.source.startswith("/"):
            raise ValueError(f"an artifact of service {self.service!r} needs an absolute source")
        return self


Artifacts = tuple[Annotated[Artifact, BeforeValidator(_as_table)], ...]


class StepTable(Table):
    """`[[steps]]`: one stage of a task with several."""

    name: Annotated[str, AfterValidator(_step_name)]
    agent: AgentTable = Field(default_factory=AgentTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    min_reward: float | dict[str, float] | None = None
    healthcheck: Healthcheck | None = None
    artifacts: Artifacts = ()


def _names_differ(steps: tuple[StepTable, ...]) -> tuple[StepTable, ...]:
    seen: set[str] = set()
    for step in steps:
        key = unicodedata.normalize("NFC", step.name).casefold()
        if key in seen:
            raise ValueError(f"two steps have the name {step.name!r}")
        seen.add(key)
    return steps


class HarborTask(Table):
    """All of a task.toml."""

    schema_version: str = SCHEMA_VERSION
    task: Package | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Free; `[metadata.evalkit]` is read as `Settings`."""
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    agent: AgentTable = Field(default_factory=AgentTable)
    environment: EnvironmentTable = Field(default_factory=EnvironmentTable)
    solution: SolutionTable = Field(default_factory=SolutionTable)
    source: str | None = None
    multi_step_reward_strategy: Literal["mean", "final"] | None = None
    steps: Annotated[tuple[StepTable, ...], AfterValidator(_names_differ)] = ()
    artifacts: Artifacts = ()
