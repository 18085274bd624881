"""What is a sandbox, seen by everything that uses one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from evalkit.trajectory.artifacts import ArtifactStore

DEFAULT_WORKDIR = "/app"
EntryKind = Literal["file", "dir", "link", "fifo", "socket", "device"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one sandbox. None means: the provider's default."""

    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    pids: int = 512
    output_bytes: int = 1024 * 1024
    """Kept of each output stream of one call; the rest is counted, not kept."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A file or folder of the host that is copied in before the sandbox starts."""

    source: Path
    target: str
    """Absolute path inside. A folder's contents are copied into it, a file becomes it."""
    executable: bool = False
    """A file that everybody may run, whatever its own mode says."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A folder with a small disk of its own, in memory. It hides what the image has there; nothing of it is among what
    is taken out, and in the local sandbox it is empty again after the shell was lost. Snapshots hold it (docker: where
    the engine is on this machine and evalkit is root).
    """

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Imitation:
    """What a Dockerfile says, for a sandbox that builds no image and does as it says."""

    workdir: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str | None = None
    files: tuple[Placement, ...] = ()


@dataclass(frozen=True, slots=True)
class Environment:
    """What a sandbox is started from; made from a task by the engine."""

    workdir: str = DEFAULT_WORKDIR
    """Empty: the image's own, else /app."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """On top of the image's own."""
    user: str | None = None
    """None: the image's own."""
    files: tuple[Placement, ...] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    image: str | None = None
    dockerfile: Path | None = None
    build_timeout_s: float | None = None
    """How long building or fetching the image may take. None: an hour."""
    imitation: Imitation = field(default_factory=Imitation)
    """What the image would have set, where none is built (local only)."""
    disks: tuple[Disk, ...] = ()
    private: tuple[str, ...] = ()
    """Further top-level folders that are writable, such as /logs or /tests."""
    sealed: tuple[str, ...] = ()
    """Where given, only these top-level folders can be written to from inside after the first `halt`; from outside
    all can. Local only: a container has other users for that.
    """
    readonly: tuple[Path, ...] = ()
    """Further host folders that are readable at their own path (local only)."""
    hidden: tuple[Path, ...] = ()
    """Host folders that are empty inside, wherever they lie: suites with their tests and solutions (local only)."""


@dataclass(frozen=True, slots=True)
class Captured:
    """One output stream of one call.

    `data` is complete, or where `truncated` the first and last parts with one line between them that
    says how many bytes were cut. `total` counts every byte that was written.
    """

    data: bytes
    total: int
    truncated: bool

    @property
    def text(self) -> str:
        """The bytes as text; bytes that are no UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")

    @property
    def escaped(self) -> str:
        """The bytes as text, each byte that is no UTF-8 as a lone surrogate, which the record replaces and counts."""
        return self.data.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What one call did.

    `exit_code` is 128 + signal for a killed command, and None where it is not known because the kept
    shell was lost (`shell_lost`). A call that ran out of time has `timed_out` and what it had printed.
    `late` holds output that background processes wrote since the call before. `over_limit` says that a
    limit of the sandbox (memory, files, processes) ended the call; the end of stderr says which.
    """

    exit_code: int | None
    stdout: Captured
    stderr: Captured
    duration_s: float
    timed_out: bool = False
    shell_lost: bool = False
    over_limit: bool = False
    late: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a snapshot. Modification times do not count."""

    kind: EntryKind
    mode: int
    owner: int
    size: int
    sha256: str | None
    """Digest of a regular file's content; None for other kinds, and for files over the hashing cap, or with holes over
    the one for all holes. Where one of two snapshots has none, only the size can be compared.
    """
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """One process that is alive in a sandbox, seen from outside."""

    pid: int
    """As the host, or the engine, numbers it."""
    parent: int
    started: float
    """Seconds since the machine was started: a number that is used again has another. Of an engine elsewhere: by its
    clock.
    """
    program: str
    """The name of the program file; what the process calls itself is the agent's."""
    command: str
    """The command line, with blanks between arguments."""
    sockets: frozenset[int] = field(default=frozenset(), compare=False)
    """Numbers of the sockets that it has open; empty where nobody knows them."""


@dataclass(frozen=True, slots=True)
class Listening:
    """One socket of a sandbox that waits for others, seen from outside where that is possible."""

    protocol: Literal["tcp", "udp", "unix"]
    address: str
    """An address, or a path."""
    port: int | None
    inside: bool = False
    """Whether only a listing taken inside tells of it."""
    number: int | None = field(default=None, compare=False)
    """The kernel's, to find who holds it by."""


@dataclass(frozen=True, slots=True)
class Deliverable:
    """One path that left a sandbox as data. A file's content is in the artifact store under `digest`."""

    path: str
    kind: Literal["file", "dir", "link"]
    mode: int
    size: int = 0
    digest: str | None = None
    target: str | None = None


class Sandbox(Protocol):
    """One isolated machine for one trial (or one grading). Every method may raise `SandboxError`.

    Life: `start`, any number of `exec`, `halt` (everything inside is dead, the files are still there:
    `snapshot`, `export` and `read_file` work, and a further `exec` starts a fresh shell on the same
    files), `stop` (nothing is left; may be called at any time, and twice).
    """

    @property
    def runtime(self) -> str:
        """What isolates, with its version, such as `bubblewrap 0.8.0`."""
        ...

    @property
    def image_digest(self) -> str | None:
        """Digest of the image, which did all that its Dockerfile says; None where there is none."""
        ...

    @property
    def build_s(self) -> float | None:
        """Seconds of `start` that went into finding, fetching or building the image; None where there is none."""
        ...

    @property
    def reduced(self) -> tuple[str, ...]:
        """Limits that were asked for and are less on this machine, a sentence for each; none before the start."""
        ...

    async def start(self) -> None:
        """Make the files and start the kept shell."""
        ...

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        stdin: bytes | None = None,
        timeout_s: float | None = None,
        on_cut: Callable[[ExecResult], None] | None = None,
    ) -> ExecResult:
        """Run a shell line (str) or a program with arguments (sequence), in `workdir` unless `cwd` is given.

        Where the caller is cancelled the call is killed first, and `on_cut` gets what it had printed.
        """
        ...

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a file, making its parent folders. Relative paths start at `workdir`."""
        ...

    async def read_file(self, path: str, *, max_bytes: int = 100 * 1024 * 1024) -> bytes:
        """Read a regular file.

        Raises FileNotFoundError, IsADirectoryError, PermissionError, or SandboxError for one that is too big.
        """
        ...

    async def clear_folder(self, path: str) -> None:
        """Make `path` an empty folder, whatever stood there; done without trusting any program inside."""
        ...

    async def workspace_digest(self) -> str | None:
        """Digest of a stat listing of the working directory; None where it is too large to be measured."""
        ...

    async def snapshot(self) -> dict[str, Entry]:
        """Everything that a trial can change, by absolute path; read from outside, no links followed."""
        ...

    async def processes(self) -> tuple[Running, ...]:
        """Every process alive inside but the sandbox's own (the first process, the kept shell), read from outside."""
        ...

    async def listeners(self) -> tuple[Listening, ...]:
        """Every socket inside that waits for connections or datagrams."""
        ...

    async def listing(self) -> Mapping[str, str] | None:
        """By absolute path, a signature of size, times, inode, mode and owner, to tell which paths a call has touched.

        Local: everything that a trial can change, from outside. Docker: the working directory, from inside. None where
        that are more than 20,000 paths, or it cannot be told. For attribution only: never evidence.
        """
        ...

    async def export(self, paths: Sequence[str], store: ArtifactStore) -> tuple[Deliverable, ...]:
        """Take files and folders out as data. Missing paths are left out.

        Raises `DeliverableRefused` where a path leads outside (links, hard links) or is a device or fifo,
        `SandboxError` where it is too big.
        """
        ...

    async def place(self, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
        """Put exported data into this sandbox, at the same paths."""
        ...

    async def halt(self) -> None:
        """Kill everything inside and keep the files."""
        ...

    async def stop(self) -> None:
        """Kill everything and remove every trace. Never raises for a sandbox that is already gone."""
        ...
