"""Where does a local sandbox keep its files, and how are they removed whatever is in them?

Every sandbox has one folder below the base folder, with a label that names its run and trial and that its
owner keeps locked. The lock dies with the owner, even by `kill -9`, so a label that can be locked marks a
folder that nobody needs any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.local.bubblewrap import Account
from evalkit.sandbox.walk import OPEN_FOLDER, enter, identity

PREFIX = "sandbox-"
_NEW_PREFIX = ".new-"
_LABEL = "label.json"
_PARTS = ("tree", "stage")
_ABANDONED_S = 3600.0
SCRATCH_HINT = "Set EVALKIT_SCRATCH to a folder with free space that you may write to."


@dataclass(frozen=True, slots=True)
class Label:
    """Whose folder this is. `started` is the owner's start time in the kernel's clock ticks since boot."""

    run: str
    trial: str
    pid: int
    started: int
    format: str = "evalkit.sandbox/1"


@dataclass(frozen=True, slots=True)
class Scratch:
    """One sandbox's folder: `tree` holds its files, `stage` what the kept shell is handed."""

    folder: Path
    lock: int

    @property
    def tree(self) -> Path:
        """The sandbox's own files, laid out as inside."""
        return self.folder / "tree"

    @property
    def stage(self) -> Path:
        """Read-only inside; written by the harness."""
        return self.folder / "stage"

    def remove(self) -> None:
        """Remove everything and let go of the label."""
        try:
            _remove(self.folder)
        finally:
            with contextlib.suppress(OSError):
                os.close(self.lock)


def base_folder() -> Path:
    """Where sandboxes of this user are kept: `$EVALKIT_SCRATCH`, else a folder of its own below /var/tmp."""
    chosen = os.environ.get("EVALKIT_SCRATCH")
    return Path(chosen).absolute() if chosen else Path(f"/var/tmp/evalkit-{os.geteuid()}")  # noqa: S108  -- checked below


def make_base(base: Path, who: Account) -> None:
    """Make the base folder, or make sure that the existing one is ours and can be entered by `who`."""
    mode = 0o711 if who.switch else 0o700
    base.mkdir(parents=True, exist_ok=True, mode=mode)
    status = base.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise SandboxError(
            f"{base} belongs to somebody else", hint="Set EVALKIT_SCRATCH to a folder of your own."
        )
    if stat.S_IMODE(status.st_mode) & 0o022 or (who.switch and not status.st_mode & stat.S_IXOTH):
        base.chmod(mode)
    if who.switch:
        closed = [str(one) for one in base.parents if not one.stat().st_mode & stat.S_IXOTH]
        if closed:
            raise SandboxError(
                f"sandboxes run as an unprivileged user, who may not enter {closed[0]}",
                where=str(base),
                hint="Set EVALKIT_SCRATCH to a folder that everybody may enter, such as one below /var/tmp.",
            )


def create(base: Path, who: Account, *, run: str, trial: str) -> Scratch:
    """A new labelled and locked folder. Raises SandboxError where none can be made."""
    try:
        make_base(base, who)
        building = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX, dir=base))
    except OSError as error:
        raise SandboxError(
            f"no folder for the sandbox can be made: {error.strerror}",
            where=str(base),
            hint=SCRATCH_HINT,
        ) from error
    building.chmod(0o711 if who.switch else 0o700)
    label = Label(run, trial, os.getpid(), _own_start())
    handle = os.open(building / _LABEL, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.write(handle, json.dumps(asdict(label)).encode())
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for name in _PARTS:
        (building / name).mkdir(mode=0o700)
        if who.switch:
            os.chown(building / name, who.uid, who.gid)
    folder = base / (PREFIX + building.name.removeprefix(_NEW_PREFIX))
    building.rename(folder)
    return Scratch(folder, handle)


def clean(base: Path) -> list[str]:
    """Remove what dead owners left in `base`; says what was removed. Other people's files are never
    touched.
    """
    removed: list[str] = []
    if not base.is_dir():
        return removed
    for folder in sorted(base.iterdir()):
        label = _abandoned(folder)
        if label is not None:
            _remove(folder)
            removed.append(f"sandbox of trial {label.trial} of run {label.run} ({folder})")
    return removed


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, however deep, unreadable or strangely named; links are not
    followed.

    Nothing may be running in it. A folder that is already gone is fine.
    """
    try:
        parent = os.open(folder.parent, OPEN_FOLDER)
    except FileNotFoundError:
        return
    try:
        entered = enter(parent, folder.name, reopen=True)
        if entered is not None:
            _empty(entered[0])
            os.rmdir(folder.name, dir_fd=parent)
    finally:
        os.close(parent)


def _remove(folder: Path) -> None:
    """Remove a sandbox's folder, the label last: what is left of an interrupted removal can still be found."""
    for name in _PARTS:
        remove_tree(folder / name)
    remove_tree(folder)


def _empty(here: int) -> None:
    """Remove everything below an open folder and close it. Needs one descriptor however deep it is."""
    trail: list[tuple[str, tuple[int, int], list[str]]] = []
    name, pending = "", _unlink_all(here)
    try:
        while pending or trail:
            if pending:
                trail.append((name, identity(os.fstat(here)), pending))
                name = pending.pop()
                entered = enter(here, name, reopen=True)
                if entered is None:
                    raise SandboxError(f"a folder of a sandbox cannot be removed: {name!r}")
                os.close(here)
                here = entered[0]
                pending = _unlink_all(here)
                continue
            parent = os.open("..", OPEN_FOLDER, dir_fd=here)
            os.close(here)
            here = parent
            done = name
            name, expected, pending = trail.pop()
            if identity(os.fstat(here)) != expected:
                raise SandboxError("a sandbox's files were moved while they were being removed")
            os.rmdir(done, dir_fd=here)
    finally:
        os.close(here)


def _unlink_all(folder: int) -> list[str]:
    """Remove all but folders, also where the folder forbids it; returns the names of those."""
    folders: list[str] = []
    if stat.S_IMODE(os.fstat(folder).st_mode) & 0o700 != 0o700:
        os.fchmod(folder, 0o700)
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return folders


def _abandoned(folder: Path) -> Label | None:
    """The label of a folder of ours whose owner is gone; None for everything else."""
    if not folder.name.startswith((PREFIX, _NEW_PREFIX)) or folder.is_symlink():
        return None
    try:
        handle = os.open(folder / _LABEL, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
            return None
        if folder.name.startswith(_NEW_PREFIX) and time.time() - status.st_mtime < _ABANDONED_S:
            return None
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Label(**json.loads(os.read(handle, 65536)))
    except (BlockingIOError, ValueError, TypeError):
        return None
    finally:
        os.close(handle)


def _own_start() -> int:
    return int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
