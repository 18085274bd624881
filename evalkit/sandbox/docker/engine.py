# pyright: basic
"""What does the container engine do for a sandbox, and what do its errors mean?

The border to the docker SDK: everything that blocks is here, has a time limit, and raises `SandboxError`.
Called from threads; one client per process is shared by all sandboxes.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import socket
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.complaint import (
    START_HINT,
    NotThere,
    Refused,
    raise_for,
    refused,
    translated,
    unreachable,
)
from evalkit.sandbox.docker.transfer import Download

if TYPE_CHECKING:
    from docker import APIClient

CALL_S = 60.0
"""How long the engine may stay silent within one call."""
REMOVAL_S = 20.0
BUILD_SILENCE_S = 900.0
NEWEST_API = (1, 44)
"""Later versions of the engine's interface are spoken to in this one."""
OLDEST_API = (1, 41)
USUAL_SOCKET = "/var/run/docker.sock"
_GO_DIRECTORY, _GO_LINK, _GO_DEVICE = 1 << 31, 1 << 27, 1 << 26
_GO_FIFO, _GO_SOCKET = 1 << 25, 1 << 24


@dataclass(frozen=True, slots=True)
class Settings:
    """The variables that name an engine, and the process that talks to it."""

    host: str | None
    tls_verify: str | None
    cert_path: str | None
    process: int


@dataclass(frozen=True, slots=True)
class PathStatus:
    """What the engine says about a path inside. `target` is where a link ends up, inside."""

    mode: int
    size: int
    target: str

    @property
    def is_link(self) -> bool:
        """Whether the path is a symbolic link."""
        return bool(self.mode & _GO_LINK)

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return bool(self.mode & _GO_DIRECTORY)

    @property
    def is_file(self) -> bool:
        """Whether the path is a regular file."""
        return not self.mode & (_GO_DIRECTORY | _GO_LINK | _GO_DEVICE | _GO_FIFO | _GO_SOCKET)


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is there. `user` is who its programs run as, `workdir` where; empty where it does not say."""

    id: str
    user: str
    workdir: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Owned:
    """A container with a label of ours."""

    id: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """Which engine this is."""

    name: str
    version: str
    api: tuple[int, ...]
    cpus: int


def connect() -> Engine:
    """The engine that DOCKER_HOST names, or the one at the usual socket. Raises SandboxError."""
    env = os.environ
    return _connect(
        Settings(
            env.get("DOCKER_HOST"), env.get("DOCKER_TLS_VERIFY"), env.get("DOCKER_CERT_PATH"), os.getpid()
        )
    )


@functools.lru_cache(maxsize=4)
def _connect(settings: Settings) -> Engine:
    import docker.utils
    from docker import APIClient

    if (settings.host or "").startswith("ssh://") or settings.tls_verify or settings.cert_path:
        raise SandboxError(
            "the docker sandbox reaches its engine by a socket or plain tcp only, not by ssh or TLS",
            where=f"DOCKER_HOST={settings.host or ''}",
            hint="Forward the engine's socket with `ssh -L`, and set DOCKER_HOST to it.",
        )
    _knock(settings.host or f"unix://{USUAL_SOCKET}")
    with translated("say its version"):
        known = docker.utils.kwargs_from_env()
        probe = APIClient(version="1.24", timeout=10, **known)
        try:
            said = probe.version(api_version=False)
            processors = probe.info().get("NCPU") or 1
        finally:
            probe.close()
        server = _numbers(said.get("ApiVersion", "0"))
        if server < OLDEST_API:
            raise SandboxError(
                f"the container engine is too old: {said.get('Version')}",
                hint="evalkit needs Docker Engine 20.10 or later, or Podman 4 or later.",
            )
        spoken = ".".join(map(str, min(server, NEWEST_API)))
        client = APIClient(version=spoken, timeout=int(CALL_S), max_pool_size=64, **known)
    components = [one.get("Name", "") for one in said.get("Components") or []]
    name = "podman" if any("podman" in one.lower() for one in components) else "docker"
    return Engine(client, Version(name, str(said.get("Version")), server, int(processors)))


class Engine:
    """The calls that a sandbox needs. `container` is a name or an id everywhere."""

    def __init__(self, client: APIClient, version: Version) -> None:
        self._client = client
        self._latest = threading.local()
        client.hooks["response"].append(self._remember)
        self.version = version
        self.listing = threading.Lock()
        """Held while an image is listed, so that trials that start at once do not all do it."""

    def close(self) -> None:
        """Hang up the connections that are kept for later calls."""
        self._client.close()

    def ping(self) -> None:
        """Raise SandboxError where the engine does not answer."""
        with translated("answer"):
            self._client.ping()

    def create(self, name: str, config: Mapping[str, Any], host: Mapping[str, Any]) -> None:
        """Make a container that does not run yet."""
        with translated("make a container"):
            client = self._client
            client.create_container(name=name, host_config=client.create_host_config(**host), **config)

    def attach(self, container: str) -> socket.socket:
        """A connection to process 1's standard streams."""
        with translated("attach to the container"):
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            return _taken_over(self._client.attach_socket(container, params=streams))

    def start(self, container: str) -> None:
        """Run the container's process 1."""
        with translated("start the container"):
            self._client.start(container)

    def open_shell(self, container: str, command: Sequence[str], user: str) -> socket.socket:
        """Start a program in the container, and return a connection to its standard streams."""
        with translated("start a shell in the container"):
            made = self._client.exec_create(
                container, list(command), stdin=True, stdout=True, stderr=True, user=user, workdir="/"
            )
            return _taken_over(self._client.exec_start(made["Id"], socket=True))

    def running(self, container: str) -> bool:
        """Whether process 1 lives. False also where the container is gone."""
        try:
            with translated("look at the container"):
                return bool(self._client.inspect_container(container)["State"]["Running"])
        except NotThere:
            return False

    def processes(self, container: str) -> int:
        """How many processes live inside, with process 1; counted from outside."""
        with translated("list the container's processes"):
            if self.version.name == "podman":  # which would list them by a program of the image
                said = self._client.stats(container, stream=False, one_shot=True)
                return int(said["pids_stats"]["current"])
            return len(self._client.top(container).get("Processes") or [])

    def written_bytes(self, container: str) -> int:
        """Size of the files that were written on top of the image."""
        with translated("measure the container"):
            found = self._client.containers(all=True, size=True, filters={"name": f"^/?{container}$"})
            return sum(int(one.get("SizeRw") or 0) for one in found)

    def changes(self, container: str) -> list[tuple[str, bool]]:
        """Paths that may differ from the image; True where the image's own path was taken away."""
        with translated("compare the container with its image"):
            found = self._client.diff(container) or []
            return [(str(one["Path"]), one["Kind"] == 2) for one in found]

    def status(self, container: str, path: str) -> PathStatus:
        """What stands at a path; links on the way are followed. Raises NotThere."""
        with translated(f"look at {path}"):
            answer = self._client.head(self._archive(container), params={"path": path}, timeout=CALL_S)
            if answer.status_code != 200:  # a HEAD has no body that could say why
                with self.download(container, path):
                    pass
            header = answer.headers.get("x-docker-container-path-stat", "")
            said = json.loads(base64.b64decode(header))
            return PathStatus(int(said["mode"]), int(said["size"]), str(said.get("linkTarget") or ""))

    @contextlib.contextmanager
    def download(self, container: str, path: str) -> Iterator[Download]:
        """A file or folder as a tar stream, which is closed whatever happens: an open one blocks the
        container. Raises NotThere.
        """
        with translated(f"read {path}"):
            answer = self._client.get(
                self._archive(container), params={"path": path}, stream=True, timeout=CALL_S,
                headers={"Accept-Encoding": "identity"},
            )  # fmt: skip
            try:
                raise_for(answer)
                yield Download(answer.raw, path)
            finally:
                answer.close()

    def upload(self, container: str, folder: str, tar: Iterable[bytes] | BinaryIO) -> None:
        """Unpack a tar stream into a folder inside; the engine does that, never the host."""
        with translated(f"write into {folder}"):
            answer = self._client.put(
                self._archive(container), params={"path": folder}, data=tar, timeout=CALL_S,
                headers={"Content-Type": "application/x-tar"},
            )  # fmt: skip
            raise_for(answer)

    def remove(self, container: str) -> None:
        """Kill and remove a container with its own volumes; returns when it is gone, or was before."""
        try:
            with translated("remove the container"):
                self._client.remove_container(container, force=True, v=True)
        except NotThere:
            return
        except Refused as error:
            if error.status != 409:
                raise
        self._await_removal(container)

    def _await_removal(self, container: str) -> None:
        """One that ended by itself is being removed already, which takes a moment."""
        deadline = time.monotonic() + REMOVAL_S
        while time.monotonic() < deadline:
            try:
                with translated("look at the container"):
                    self._client.inspect_container(container)
            except NotThere:
                return
            time.sleep(0.02)
        raise SandboxError(
            "the container engine does not remove a container", where=container, hint=START_HINT
        )

    def image(self, name: str) -> Image:
        """An image that is there. Raises NotThere."""
        with translated(f"find the image {name}"):
            found = self._client.inspect_image(name)
            config = found.get("Config") or {}
            return Image(
                str(found["Id"]),
                str(config.get("User") or ""),
                str(config.get("WorkingDir") or ""),
                int(found.get("Size") or 0),
            )

    def pull(self, name: str) -> Generator[str]:
        """Fetch an image; yields what the engine says meanwhile. Raises SandboxError."""
        import docker.utils

        repository, tag = docker.utils.parse_repository_tag(name)
        with translated(f"pull {name}"):
            lines = self._client.pull(repository, tag=tag or "latest", stream=True, decode=True)
            yield from self._progress(lines)

    def build(
        self, context: BinaryIO, dockerfile: str, tag: str, labels: Mapping[str, str]
    ) -> Generator[str]:
        """Build an image from a tar of its context; yields what the build says. Raises SandboxError."""
        with translated("build the image"):
            lines = self._client.build(
                fileobj=context, custom_context=True, dockerfile=dockerfile, tag=tag, labels=dict(labels),
                rm=True, forcerm=True, decode=True, timeout=int(BUILD_SILENCE_S),
            )  # fmt: skip
            yield from self._progress(lines)

    def owned(self, label: str) -> list[Owned]:
        """All containers, running or not, that carry a label."""
        with translated("list containers"):
            found = self._client.containers(all=True, filters={"label": [label]})
            return [Owned(str(one["Id"]), dict(one.get("Labels") or {})) for one in found]

    def _remember(self, response: Any, *_: Any, **__: Any) -> None:
        self._latest.response = response

    def _progress(self, lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """What the engine says while it works. Leaving early hangs up, which makes it stop."""
        response = self._latest.response
        try:
            for line in lines:
                if "error" in line:
                    raise refused("build or pull an image", 500, str(line["error"]))
                text = line.get("stream") or line.get("status") or ""
                if text:
                    yield str(text)
        finally:
            response.close()

    def _archive(self, container: str) -> str:
        return f"{self._client.base_url}/v{self._client.api_version}/containers/{container}/archive"


def _knock(host: str) -> None:
    """Find out why a socket cannot be used; the SDK does not say."""
    if not host.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.settimeout(10)
        try:
            knocking.connect(host.removeprefix("unix://"))
        except OSError as error:
            raise unreachable(error) from error


def _taken_over(connection: Any) -> socket.socket:
    """The connection on its own, no longer the SDK's. Nothing has been sent by the other side yet."""
    own = socket.socket(fileno=os.dup(connection.fileno()))
    response = getattr(connection, "_response", None)
    if response is None:
        connection.close()
    else:
        response.close()
    own.setblocking(False)
    return own


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
