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
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from evalkit.errors import SandboxError, TrialError
from evalkit.sandbox.docker.address import Settings, check_address, knock, local_folder, numbers
from evalkit.sandbox.docker.answers import Anatomy, Built, Image, Look, Owned, PathStatus, Version
from evalkit.sandbox.docker.complaint import (
    START_HINT,
    USUAL_ADDRESS,
    NotThere,
    Refused,
    looked_for,
    raise_for,
    translated,
)
from evalkit.sandbox.docker.connections import Connections
from evalkit.sandbox.docker.making import Making
from evalkit.sandbox.docker.pulse import Pulse
from evalkit.sandbox.docker.transfer import Download

if TYPE_CHECKING:
    from docker import APIClient

CALL_S = 60.0
"""How long one call may stay without an answer although the engine itself is well."""
REMOVAL_S = 20.0
PING_S = 5.0
AT_ONCE = 64
NEWEST_API = (1, 44)
"""Later versions of the engine's interface are spoken to in this one."""
OLDEST_API = (1, 41)


def connect() -> Engine:
    """The engine that DOCKER_HOST names, or the one at the usual socket. Raises SandboxError."""
    return _connect(Settings.now())


@functools.lru_cache(maxsize=4)
def _connect(settings: Settings) -> Engine:
    import docker.utils
    from docker import APIClient

    if (settings.host or "").startswith("ssh://") or settings.tls_verify or settings.cert_path:
        raise SandboxError(
            "the docker sandbox reaches its engine by a socket or plain tcp only, not by ssh or TLS",
            where=looked_for(),
            hint="Forward the engine's socket with `ssh -L`, and set DOCKER_HOST to it.",
        )
    host = settings.host or USUAL_ADDRESS
    check_address(host)
    knock(host)
    with translated("say its version"):
        known = docker.utils.kwargs_from_env()
        probe = APIClient(version="1.24", timeout=10, **known)
        try:
            said = probe.version(api_version=False)
            machine = probe.info()
        finally:
            probe.close()
        server = numbers(said.get("ApiVersion", "0"))
        if server < OLDEST_API:
            raise SandboxError(
                f"the container engine is too old: {said.get('Version')}",
                where=looked_for(),
                hint="evalkit needs Docker Engine 20.10 or later, or Podman 4 or later.",
            )
        spoken = ".".join(map(str, min(server, NEWEST_API)))
    components = [one.get("Name", "") for one in said.get("Components") or []]
    name = "podman" if any("podman" in one.lower() for one in components) else "docker"
    version = Version(
        name=name, version=str(said.get("Version")), api=server, cpus=int(machine.get("NCPU") or 1),
        memory=int(machine.get("MemTotal") or 0), data=local_folder(host, machine.get("DockerRootDir")),
    )  # fmt: skip

    def client(connections: Connections) -> APIClient:
        made = APIClient(version=spoken, timeout=int(CALL_S), max_pool_size=AT_ONCE, **known)
        connections.carry(made, host, timeout_s=int(CALL_S), at_once=AT_ONCE)
        return made

    return Engine(client, version)


class Engine:
    """The calls that a sandbox needs. `container` is a name or an id everywhere."""

    def __init__(self, client: Callable[[Connections], APIClient], version: Version) -> None:
        self._new_client = client
        self._connections = Connections()
        self._client = client(self._connections)
        self._making: weakref.WeakSet[Connections] = weakref.WeakSet()
        self._pulse = Pulse(self._asked, self._cut)
        self.version = version
        self.listing = threading.Lock()
        """Held while an image is listed, so that trials that start at once do not all do it."""
        self.failures: dict[str, tuple[float, TrialError]] = {}
        """Of builds, by digest, with when they failed; for those who waited for the same build."""

    def close(self) -> None:
        """Hang up the connections that are kept for later calls."""
        self._pulse.close()
        self._client.close()

    @contextlib.contextmanager
    def _call(self, doing: str) -> Generator[None]:
        with self._pulse.watched(), translated(doing):
            yield

    def _asked(self, within_s: float) -> None:
        """Raise SandboxError where the engine does not say a word."""
        with translated("answer"):
            raise_for(self._client.get(f"{self._client.base_url}/_ping", timeout=within_s))

    def _cut(self) -> None:
        for connections in [self._connections, *self._making]:
            connections.cut()

    def waiting(self) -> contextlib.AbstractContextManager[None]:
        """While a program in a container is waited for: an engine that falls silent ends that. Raises EngineSilent."""
        return self._pulse.watched()

    def fell_silent(self, since: float) -> bool:
        """Whether all connections were cut for that since a moment of the monotonic clock."""
        return self._pulse.cut_at >= since

    def ping(self) -> None:
        """Raise SandboxError where the engine does not answer soon."""
        self._asked(PING_S)

    def clock(self) -> str:
        """What time it is for the engine, in ISO 8601."""
        with self._call("say the time"):
            return str(self._client.info()["SystemTime"])

    def runtimes(self) -> list[str]:
        """Names of the container runtimes that the engine knows."""
        with self._call("list its runtimes"):
            return sorted(self._client.info().get("Runtimes") or {})

    def create(self, name: str, config: Mapping[str, Any], host: Mapping[str, Any]) -> list[str]:
        """Make a container that does not run yet. Returns the engine's warnings."""
        with self._call("make a container"):
            client = self._client
            settings = client.create_host_config(**host)
            said = client.create_container(name=name, host_config=settings, **config)
            return [str(one) for one in said.get("Warnings") or []]

    def attach(self, container: str) -> socket.socket:
        """A connection to process 1's standard streams."""
        with self._call("attach to the container"):
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            return self._taken_over(self._client.attach_socket(container, params=streams))

    def start(self, container: str) -> None:
        """Run the container's process 1."""
        with self._call("start the container"):
            self._client.start(container)

    def open_shell(self, container: str, command: Sequence[str], user: str) -> socket.socket:
        """Start a program in the container, and return a connection to its standard streams."""
        with self._call("start a shell in the container"):
            made = self._client.exec_create(
                container, list(command), stdin=True, stdout=True, stderr=True, user=user, workdir="/"
            )
            return self._taken_over(self._client.exec_start(made["Id"], socket=True))

    def running(self, container: str) -> bool:
        """Whether process 1 lives. False also where the container is gone."""
        try:
            with self._call("look at the container"):
                return bool(self._client.inspect_container(container)["State"]["Running"])
        except NotThere:
            return False

    def runtime(self, container: str) -> str:
        """The name of the runtime that a container is run by."""
        with self._call("look at the container"):
            return str(self._client.inspect_container(container)["HostConfig"].get("Runtime") or "")

    def pause(self, container: str) -> None:
        """Freeze everything inside."""
        with self._call("pause the container"):
            self._client.pause(container)

    def processes(self, container: str) -> int:
        """How many processes live inside, with process 1; counted from outside."""
        with self._call("list the container's processes"):
            if self.version.name == "podman":  # which would list them by a program of the image
                said = self._client.stats(container, stream=False, one_shot=True)
                return int(said["pids_stats"]["current"])
            return len(self._client.top(container).get("Processes") or [])

    def anatomy(self, container: str) -> Anatomy:
        """Which of the machine's processes and volumes belong to a container that runs."""
        with self._call("look at the container"):
            found = self._client.inspect_container(container)
            execs = [self._client.exec_inspect(one) for one in found.get("ExecIDs") or []]
            return Anatomy(
                id=str(found["Id"]),
                first=int(found["State"]["Pid"]),
                shells=tuple(int(one["Pid"]) for one in execs if one.get("Running") and one.get("Pid")),
                runtime=str(found["HostConfig"].get("Runtime") or ""),
                volumes=tuple(str(one["Destination"]) for one in found.get("Mounts") or []),
            )

    def top(self, container: str, columns: str) -> list[list[str]]:
        """What `ps -eo COLUMNS` says of a container's processes, where the engine is; all but the last are words."""
        with self._call("list the container's processes"):
            said = self._client.top(container, ps_args=f"-eo {columns}")
            return [[str(word) for word in row] for row in said.get("Processes") or []]

    def look(self, container: str, *, size: bool) -> Look:
        """What a container is doing. Its size costs a walk over all that was written."""
        with self._call("look at the container"):
            found = self._client.containers(all=True, size=size, filters={"name": f"^/?{container}$"})
            for one in found:
                return Look(str(one.get("State") or "").lower(), int(one.get("SizeRw") or 0))
            return Look("gone")

    def changes(self, container: str) -> list[tuple[str, bool]]:
        """Paths that may differ from the image; True where the image's own path was taken away."""
        with self._call("compare the container with its image"):
            found = self._client.diff(container) or []
            return [(str(one["Path"]), one["Kind"] == 2) for one in found]

    def status(self, container: str, path: str) -> PathStatus:
        """What stands at a path; links on the way are followed. Raises NotThere."""
        with self._call(f"look at {path}"):
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
        with self._call(f"read {path}"):
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
        with self._call(f"write into {folder}"):
            answer = self._client.put(
                self._archive(container), params={"path": folder}, data=tar, timeout=CALL_S,
                headers={"Content-Type": "application/x-tar"},
            )  # fmt: skip
            raise_for(answer)

    def remove(self, container: str) -> None:
        """Kill and remove a container with its own volumes; returns when it is gone, or was before."""
        try:
            with self._call("remove the container"):
                url = f"{self._base}/containers/{container}"
                params = {"force": True, "v": True}
                raise_for(self._client.delete(url, params=params, timeout=REMOVAL_S), "remove the container")
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
                with self._call("look at the container"):
                    self._client.inspect_container(container)
            except NotThere:
                return
            time.sleep(0.02)
        raise SandboxError(
            "the container engine does not remove a container", where=container, hint=START_HINT
        )

    def image(self, name: str) -> Image:
        """An image that is there. Raises NotThere."""
        with self._call(f"find the image {name}"):
            found = self._client.inspect_image(name)
            config = found.get("Config") or {}
            return Image(
                str(found["Id"]),
                str(config.get("User") or ""),
                str(config.get("WorkingDir") or ""),
                int(found.get("Size") or 0),
            )

    def making(self) -> Making:
        """Something that makes or fetches one image; to be given up in the end."""
        connections = Connections()
        made = Making(self._new_client(connections), connections, self._pulse)
        self._making.add(connections)
        return made

    def built(self, label: str) -> list[Built]:
        """All images, with names or without, that carry a label."""
        with self._call("list images"):
            found = self._client.images(filters={"label": [label]})
            return [self._built(str(one["Id"]), label) for one in found]

    def _built(self, image: str, label: str) -> Built:
        found = self._client.inspect_image(image)
        labels = (found.get("Config") or {}).get("Labels") or {}
        return Built(
            str(found["Id"]),
            tuple(found.get("RepoTags") or ()),
            str(labels.get(label, "")),
            str(found["Created"]),
        )

    def look_at_image(self, image: str, label: str) -> Built:
        """An image by its id or name, with one of its labels. Raises NotThere."""
        with self._call("look at an image"):
            return self._built(image, label)

    def remove_image(self, image: str, *, parents: bool) -> None:
        """Remove a name, or an image without one; with `parents` also what was only there for it.

        Raises NotThere, and Refused where anything uses it.
        """
        with self._call("remove an image"):
            self._client.remove_image(image, noprune=not parents)

    def owned(self, label: str) -> list[Owned]:
        """All containers, running or not, that carry a label."""
        with self._call("list containers"):
            found = self._client.containers(all=True, filters={"label": [label]})
            return [Owned(str(one["Id"]), dict(one.get("Labels") or {})) for one in found]

    def _taken_over(self, connection: Any) -> socket.socket:
        """The connection on its own, no longer the SDK's. Nothing has been sent by the other side yet."""
        own = socket.socket(fileno=os.dup(connection.fileno()))
        getattr(connection, "_response", connection).close()
        own.setblocking(False)
        self._connections.opened(own)
        return own

    @property
    def _base(self) -> str:
        return f"{self._client.base_url}/v{self._client.api_version}"

    def owned_volumes(self, label: str) -> list[Owned]:
        """All volumes that carry a label."""
        with self._call("list volumes"):
            found = self._client.volumes(filters={"label": [label]}).get("Volumes") or []
            return [Owned(str(one["Name"]), dict(one.get("Labels") or {})) for one in found]

    def remove_volume(self, volume: str) -> None:
        """Remove a volume. Raises Refused where a container uses it, or it is gone."""
        with self._call("remove a volume"):
            self._client.remove_volume(volume)

    def _archive(self, container: str) -> str:
        return f"{self._base}/containers/{container}/archive"
