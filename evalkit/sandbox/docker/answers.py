"""What does the container engine say about itself, its images and its containers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_GO_DIRECTORY, _GO_LINK, _GO_DEVICE = 1 << 31, 1 << 27, 1 << 26
_GO_FIFO, _GO_SOCKET = 1 << 25, 1 << 24


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
    """A container or volume with a label of ours."""

    id: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """Which engine this is."""

    name: str
    version: str
    api: tuple[int, ...]
    cpus: int
    memory: int
    """Bytes that its machine has; 0 where it does not say."""
    data: Path | None
    """Where it keeps its data, where that is a folder of this machine."""

    @property
    def named(self) -> str:
        """Such as `docker 20.10.24`."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Look:
    """What a container is doing, such as `running` or `paused`; `gone` where it is not there. `written` is the size of
    the files that were written on top of its image, where that was asked for.
    """

    state: str
    written: int = 0


@dataclass(frozen=True, slots=True)
class Anatomy:
    """What of the engine's machine belongs to a container that runs. Processes have the machine's numbers."""

    id: str
    first: int
    """Process 1."""
    shells: tuple[int, ...]
    """What was started beside it: the kept shells."""
    runtime: str
    volumes: tuple[str, ...]
    """Where volumes are mounted, the image's own among them."""


@dataclass(frozen=True, slots=True)
class Built:
    """An image with a label of ours. `created` is in ISO 8601, by the engine's clock."""

    id: str
    tags: tuple[str, ...]
    label: str
    created: str
