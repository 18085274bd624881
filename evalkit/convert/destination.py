"""Where does a run go that is being made, and how does it appear there whole or not at all?

It is written into a folder beside its place, whose name begins with a dot, and moved there in the end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
import uuid
from collections.abc import Generator
from datetime import datetime
from pathlib import Path

from evalkit.errors import EvalkitError, UsageError
from evalkit.trajectory.atomic import writing
from evalkit.trajectory.locate import RUNS, new_run_path
from evalkit.trajectory.owner import read_owner

_PART = re.compile(r"\..{0,40}\.[0-9a-f]{8}\.import", re.DOTALL)
_NAME = 40
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)
_OWNERLESS_S = 3600
"""After so long a folder that says no owner is no longer being begun or finished."""


class Destination:
    """The place of one new run, chosen by whoever imports, or by the time and the format."""

    def __init__(self, out: str | Path | None, format_name: str) -> None:
        """Raises UsageError where no run can be made there."""
        self._chosen = out is not None
        if out is None:
            self._wanted = RUNS / f"{datetime.now():%Y%m%d-%H%M%S}-{format_name}"
            self.path = _free(self._wanted)
        else:
            self._wanted = self.path = _asked(new_run_path(out))
        self._place = _behind_link(self.path)
        self.part = self._place.with_name(f".{self._place.name[:_NAME]}.{uuid.uuid4().hex[:8]}.import")

    @contextlib.contextmanager
    def making(self) -> Generator[Path]:
        """The folder to write into, which is gone afterwards, whatever happens."""
        try:
            with writing(self.path, verb="import"):
                self._place.parent.mkdir(parents=True, exist_ok=True)
            _sweep(self._place.parent)
            yield self.part
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(self.part)

    def take(self) -> Path:
        """Move what was written to its place. Where that was taken meanwhile, a place that nobody chose moves on."""
        with writing(self.path, verb="import"):
            while True:
                try:
                    self.part.replace(self._place)
                except OSError as error:
                    if self._chosen or error.errno not in _TAKEN:
                        raise
                    self.path = self._place = _free(self._wanted)
                else:
                    return self.path


def _free(wanted: Path) -> Path:
    """This path, or one with a number behind it, where nothing is."""
    path, number = wanted, 1
    while os.path.lexists(path):
        number += 1
        path = wanted.with_name(f"{wanted.name}-{number}")
    return path


def _asked(path: Path) -> Path:
    """The same path, if a run can be made there."""
    if path.name == "..":
        path = path.resolve()
    hint = "An import makes a new run. Choose another folder with --out."
    if path.is_symlink() and not path.exists():
        raise UsageError("this is a link that leads nowhere", where=str(path), hint=hint)
    if path.exists():
        if not path.is_dir():
            raise UsageError("this is a file, and no place for a run", where=str(path), hint=hint)
        if any(path.iterdir()):
            raise UsageError("this folder is not empty", where=str(path), hint=hint)
        if path.samefile(Path.cwd()):
            raise UsageError("this is the folder that you are in", where=str(path), hint=hint)
    return path


def _behind_link(path: Path) -> Path:
    return path.resolve() if path.is_symlink() else path


def _sweep(folder: Path) -> None:
    """Delete what imports have left in a folder whose processes were killed."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            if _PART.fullmatch(path.name) and not path.is_symlink() and path.is_dir() and _is_dead(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_dead(part: Path) -> bool:
    try:
        owner = read_owner(part)
        return time.time() - part.stat().st_mtime > _OWNERLESS_S if owner is None else not owner.is_alive()
    except (OSError, EvalkitError):
        return False
