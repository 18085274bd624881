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
import shutil
import stat
import tempfile
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.local.bubblewrap import Account, account
from evalkit.sandbox.local.orphans import end_orphans
from evalkit.sandbox.local.processes import Process, process
from evalkit.sandbox.local.removal import remove_tree

PREFIX = "sandbox-"
_NEW_PREFIX = ".new-"
_LABEL = "label.json"
_PARTS = ("tree", "stage")
_LOCK_S = 2.0
"""How long `clean` waits for those who make or remove a folder; each takes a moment only."""
SCRATCH_HINT = "Set EVALKIT_SCRATCH to a folder with free space that you may write to."


@dataclass(frozen=True, slots=True)
class Label:
    """Whose folder this is. `started` is the owner's start time in the kernel's clock ticks since boot."""

    run: str
    trial: str
    pid: int
    started: int
    format: str = "evalkit.sandbox/1"

    @property
    def owner(self) -> Process:
        """The process that runs the sandbox."""
        return Process(self.started, self.pid)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A label, and whether anybody holds it."""

    label: Label
    held: bool


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
    status = _check_base(base)
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
        with _unlabelled(base):
            building = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX, dir=base))
            return _label(building, who, Label(run, trial, os.getpid(), _own_start()))
    except OSError as error:
        raise SandboxError(
            f"no folder for the sandbox can be made: {error.strerror}", where=str(base), hint=SCRATCH_HINT
        ) from error


def clean(base: Path) -> list[str]:
    """End and remove what dead owners left in `base`; says what. Other people's files are never touched.

    Raises SandboxError where `base` is somebody else's.
    """
    if not base.is_dir():
        return []
    _check_base(base)
    removed = _clean_unlabelled(base)
    _await_heirs(base)
    users = frozenset({account().uid})
    removed += end_orphans(base, users, lambda folder: folder.is_dir() and _abandoned(folder) is None)
    for folder in sorted(base.iterdir()):
        what = _abandoned(folder)
        if what is not None:
            _remove(folder)
            removed.append(f"{what} ({folder})")
    return removed


def _label(building: Path, who: Account, label: Label) -> Scratch:
    """Make a new folder a sandbox's, under its final name; where that fails nothing is left."""
    handle: int | None = None
    try:
        building.chmod(0o711 if who.switch else 0o700)
        handle = os.open(building / _LABEL, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.write(handle, json.dumps(asdict(label)).encode())
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in _PARTS:
            (building / name).mkdir(mode=0o700)
            if who.switch:
                os.chown(building / name, who.uid, who.gid)
        folder = building.parent / (PREFIX + building.name.removeprefix(_NEW_PREFIX))
        building.rename(folder)
    except BaseException:
        if handle is not None:
            os.close(handle)
        shutil.rmtree(building, ignore_errors=True)
        raise
    return Scratch(folder, handle)


def _check_base(base: Path) -> os.stat_result:
    status = base.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise SandboxError(
            f"{base} belongs to somebody else", hint="Set EVALKIT_SCRATCH to a folder of your own."
        )
    return status


def _remove(folder: Path) -> None:
    """Remove a sandbox's folder, the label last: what is left of an interrupted removal can still be found."""
    for name in _PARTS:
        remove_tree(folder / name)
    with contextlib.suppress(FileNotFoundError), _unlabelled(folder.parent):
        unlabelled = folder.with_name(_NEW_PREFIX + folder.name.removeprefix(PREFIX))
        folder.rename(unlabelled)
        remove_tree(unlabelled)


@contextlib.contextmanager
def _unlabelled(base: Path) -> Generator[None, None, None]:
    """Keep `clean` away while there is a folder that no label tells the owner of: before it has one, and after."""
    handle = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _clean_unlabelled(base: Path) -> list[str]:
    """Remove the folders without a label, while nobody makes or removes one; says which."""
    handle = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _locked(handle):
            return []
        removed: list[str] = []
        for folder in sorted(base.iterdir()):
            if folder.name.startswith(_NEW_PREFIX) and _is_ours(folder):
                remove_tree(folder)
                removed.append(f"unfinished folder of a sandbox ({folder})")
        return removed
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock alone; False where somebody holds it for long."""
    deadline = time.monotonic() + _LOCK_S
    while not _lock(handle):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _await_heirs(base: Path) -> None:
    """Wait for what owners were starting when they were killed.

    It holds their labels until it has become the program that it was to be, and only then it can be told.
    """
    deadline = time.monotonic() + _LOCK_S
    while any(map(_is_inherited, base.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.01)


def _is_inherited(folder: Path) -> bool:
    found = _claim(folder)
    return found is not None and found.held and process(found.label.pid) != found.label.owner


def _abandoned(folder: Path) -> str | None:
    """What a sandbox's folder of ours is, where its owner is gone; None for everything else."""
    found = _claim(folder)
    if found is None or found.held:
        return None
    return f"sandbox of trial {found.label.trial} of run {found.label.run}"


def _claim(folder: Path) -> _Claim | None:
    """Whose a sandbox's folder of ours is; None for everything else."""
    if not folder.name.startswith(PREFIX) or not _is_ours(folder):
        return None
    try:
        handle = os.open(folder / _LABEL, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
            return None
        return _Claim(Label(**json.loads(os.read(handle, 65536))), held=not _lock(handle))
    except (ValueError, TypeError):
        return None
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock alone; False where somebody holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder of our user's."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _own_start() -> int:
    return int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
