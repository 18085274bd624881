"""Which folders, variables and limits does a sandbox start with?"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox.local import etc
from evalkit.sandbox.local.bubblewrap import SHARED_FOLDERS, STAGE, SYSTEM_LINKS
from evalkit.sandbox.local.placement import place_files
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.local.watchdog import Bounds
from evalkit.sandbox.protocol import DEFAULT_WORKDIR, Environment, Limits
from evalkit.sandbox.shell import checked_env
from evalkit.sandbox.walk import OPEN_FOLDER, walk

HOSTNAME = "evalkit"
DEFAULT_MEMORY_MB = 4096
DEFAULT_STORAGE_MB = 10240
OPEN_FILES = 4096
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ALWAYS = ("etc", "home", "root", "run", "tmp", "var")
SHARED_MEMORY = "/dev/shm"  # noqa: S108  -- a path inside the sandbox
_FOLDERS: Mapping[str, int] = {
    "/etc": 0o755,
    "/home": 0o755,
    "/root": 0o700,
    "/run": 0o755,
    "/tmp": 0o1777,  # noqa: S108  -- a path inside the sandbox
    "/var/lib": 0o755,
    "/var/log": 0o755,
    "/var/tmp": 0o1777,  # noqa: S108  -- a path inside the sandbox
}
_HOST_OWN = frozenset(
    {*SHARED_FOLDERS, *SYSTEM_LINKS, "proc", "sys", "dev", "boot", STAGE.strip("/"), etc.VIEWS.strip("/")}
)
_UCOUNTS = (5, 14)
"""Since this kernel, RLIMIT_NPROC counts per user namespace; before, it counts all processes of the host
user.
"""


def user_named(name: str | None) -> etc.User:
    """Who the agent seems to be: root by default, as in a container; a name or a number otherwise."""
    name = (name or "root").partition(":")[0]
    if name in {"root", "0"}:
        return etc.User("root", 0, "/root")
    if name.isdigit():
        return etc.User(f"user{name}", int(name), f"/home/user{name}")
    if "/" in name or not name.isprintable() or name.startswith((".", "-")):
        raise SandboxError(f"{name!r} is not a user name")
    return etc.User(name, 1000, f"/home/{name}")


def imitated(environment: Environment) -> Environment:
    """The same with what its image would have set."""
    image = environment.imitation
    return replace(
        environment,
        workdir=environment.workdir or image.workdir or DEFAULT_WORKDIR,
        env={**image.env, **environment.env},
        user=image.user if environment.user is None else environment.user,
        files=image.files + environment.files,
    )


def private_tops(environment: Environment) -> frozenset[str]:
    """Names of the top-level folders that this sandbox gets for itself.

    Raises TaskError for a path that cannot be written to without a container.
    """
    tops: set[str] = set(ALWAYS)
    wanted = [environment.workdir, *environment.private, *(one.target for one in environment.files)]
    wanted += [disk.path for disk in environment.disks]
    for path in wanted:
        parts = [part for part in path.split("/") if part not in {"", "."}]
        if not path.startswith("/") or ".." in parts or not parts or "\0" in path:
            raise TaskError(f"{path!r} is not an absolute path below /")
        if parts[0] in _HOST_OWN:
            raise TaskError(
                f"{path} lies in a folder that the local sandbox shares with the machine",
                hint="This task needs docker: --sandbox docker.",
            )
        tops.add(parts[0])
    for path in environment.files:
        if posixpath.normpath(path.target) in {f"/{name}" for name in tops} and path.source.is_file():
            raise TaskError(f"{path.target} is a folder of the sandbox, so no file can be placed there")
    return frozenset(tops)


def furnish(tree: Tree, environment: Environment, user: etc.User) -> None:
    """Make the files that a sandbox starts with."""
    for name in tree.tops:
        (tree.root / name).mkdir(mode=0o755)
    (tree.root / "dev/shm").mkdir(parents=True)
    (tree.root / "dev/shm").chmod(0o1777)
    for path, mode in _FOLDERS.items():
        folder = tree.root / path.strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(mode)
    (tree.root / "var/run").symlink_to("/run")
    etc.fill(tree.root / "etc", user, HOSTNAME, network=environment.network)
    for path in (user.home, environment.workdir, *environment.private):
        tree.make_folder(path)
    for placement in environment.files:
        place_files(tree, placement)
    _give_away(tree)


def mounts(tree: Tree, kept: tuple[str, ...] = ()) -> dict[str, Path]:
    """The writable folders: path inside -> folder on the host; `kept`, where given, says which of its own."""
    tops = [f"/{name}" for name in sorted(tree.tops)]
    return {
        **{path: tree.root / path[1:] for path in tops if not kept or path in kept},
        SHARED_MEMORY: tree.root / "dev/shm",
    }


def hidden(environment: Environment) -> tuple[str, ...]:
    """The folders to hide that could be seen at all: below the host's programs or a read-only folder.

    A folder below another hidden one is hidden with it.
    """
    shown = [Path("/", name).resolve() for name in SHARED_FOLDERS] + [
        path.resolve() for path in environment.readonly
    ]
    found: list[Path] = []
    for path in sorted({path.resolve() for path in environment.hidden}):
        seen = any(path.is_relative_to(one) for one in shown)
        if seen and path.is_dir() and not any(path.is_relative_to(one) for one in found):
            found.append(path)
    return tuple(map(str, found))


def readonly(tree: Tree, environment: Environment, kept: tuple[str, ...] = ()) -> dict[str, Path]:
    """The read-only folders: path inside -> folder on the host. Raises SandboxError for one that is missing.

    Where `kept` is given, the sandbox's own that are not among them are so too. Called before every start, because the
    agent may have put links where these are mounted.
    """
    sealed = sorted(name for name in tree.tops if kept and f"/{name}" not in kept)
    found = {f"/{name}": tree.root / name for name in sealed}
    found |= {view: etc.HOST / name for name, view in etc.views().items()}
    for folder in environment.readonly:
        path = Path(posixpath.normpath(folder.absolute()))
        if not path.is_dir():
            raise SandboxError("a read-only folder of the project does not exist", where=str(folder))
        if len(path.parts) < 2 or path.parts[1] in _HOST_OWN - set(SHARED_FOLDERS):
            raise SandboxError("this folder is never shown to a sandbox", where=str(folder))
        if path.parts[1] in tree.tops:
            with tree.parent_of(f"{path}/.", make=True, follow=False, replace=True):
                pass
        found[str(path)] = path.resolve()
    return found


def disks(tree: Tree, environment: Environment) -> dict[str, int]:
    """The small disks: path inside -> bytes. Called before every start, as `readonly` is."""
    for disk in environment.disks:
        with tree.parent_of(f"{disk.path}/.", make=True, follow=False, replace=True):
            pass
    return {posixpath.normpath(disk.path): disk.size_bytes for disk in environment.disks}


def variables(environment: Environment, user: etc.User) -> dict[str, str]:
    """The environment that the agent's programs see; nothing of the host's."""
    return {
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        **identity(user),
        **checked_env(environment.env),
    }


def identity(user: etc.User) -> dict[str, str]:
    """The variables that say who somebody is."""
    return {"HOME": user.home, "USER": user.name, "LOGNAME": user.name}


def bounds(limits: Limits) -> Bounds:
    """What the watchdog enforces."""
    return Bounds(
        memory_mb=limits.memory_mb or DEFAULT_MEMORY_MB,
        storage_mb=limits.storage_mb or DEFAULT_STORAGE_MB,
        pids=limits.pids,
    )


def first_script(limits: Limits) -> str:
    """What the sandbox's first shell runs: it lowers its own limits for good, then becomes the kept shell.

    Before anything of the agent's has run, so there is no race; and no privilege inside can raise them again.
    `ulimit -f` counts blocks of 512 bytes, `-d` of 1,024. bash calls the process limit -u, dash -p.
    """
    held = bounds(limits)
    lines = [
        # Where the machine runs out of memory, the kernel takes it back from a sandbox first.
        "echo 1000 2>/dev/null >/proc/self/oom_score_adj",
        "ulimit -c 0",
        f"ulimit -d {held.memory_mb * 1024}",
        f"ulimit -f {held.storage_mb * 2048}",
        f"ulimit -n {OPEN_FILES} 2>/dev/null",
    ]
    if _kernel_counts_apart():
        lines.append(f"ulimit -p {limits.pids} 2>/dev/null || ulimit -u {limits.pids}")
    return "; ".join([*lines, "exec /bin/sh"])


def _give_away(tree: Tree) -> None:
    if not tree.owner.switch:
        return
    root = os.open(tree.root, OPEN_FOLDER)
    try:
        for visit in walk(root, ""):
            tree.adopt_at(visit.folder, visit.name)
    finally:
        os.close(root)


def _kernel_counts_apart() -> bool:
    release = os.uname().release.split(".")
    return tuple(int(part) for part in release[:2] if part.isdigit()) >= _UCOUNTS
