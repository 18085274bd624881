"""Where does a report go, and how does it get there whole?"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalkit.errors import UsageError
from evalkit.report.board import Board
from evalkit.report.trajectories import SHARD_FOLDER, Trajectories, write_shards
from evalkit.trajectory.atomic import NO_ROOM, NOT_OURS, TEMPORARY, write_text
from evalkit.trajectory.layout import manifest_file

Kind = Literal["page", "markdown", "csv", "folder"]
_KINDS: dict[str, Kind] = {".html": "page", ".htm": "page", ".md": "markdown", ".csv": "csv"}
_HINT = "Give --out a file that ends in .html, .md or .csv, or a folder as board/."
INDEX = "index.html"
_IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Target:
    """A place for a report."""

    asked: str
    path: Path
    """The file, or the folder."""
    kind: Kind


def target_of(asked: str) -> Target:
    """What `--out` names. Raises UsageError where no report can or should go."""
    path = Path(asked)
    if not asked.strip():
        raise UsageError("--out is empty", hint=_HINT)
    if "\0" in asked or asked.strip() == "-" or asked in _KINDS:
        raise UsageError("this is no name of a report", where=asked, hint=_HINT)
    kind: Kind | None = "folder" if asked.endswith(os.sep) else _KINDS.get(path.suffix.lower())
    if kind is None and path.suffix and path.name not in (".", ".."):
        raise UsageError(
            f"a report does not end in {path.suffix}",
            where=asked,
            hint=f"{_HINT} A folder of that name: {asked}/",
        )
    kind = kind or "folder"
    _refuse_runs(asked, path)
    if kind != "folder" and path.is_dir():
        raise UsageError("this is a folder", where=asked, hint=f"For a report in it: --out {asked}/")
    if kind == "folder" and path.exists() and not path.is_dir():
        raise UsageError("this is a file, and no folder", where=asked, hint=_HINT)
    return Target(asked, path, kind)


def _refuse_runs(asked: str, path: Path) -> None:
    """A run's folder holds the record, and nothing else."""
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        with contextlib.suppress(OSError):
            if manifest_file(folder).is_file():
                raise UsageError(
                    f"a report is not written into the record of a run, {folder}",
                    where=asked,
                    hint="Choose another place with --out.",
                )


def write_file(target: Target, text: str) -> str:
    """Write a report of one file; returns its size."""
    with _writing(target):
        target.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(target.path, text)
        return size_text(target.path.stat().st_size)


def write_folder(target: Target, board: Board, page: Callable[[Trajectories], str]) -> str:
    """Write the trials, then the page that lists them; returns how large it is.

    Until the trials are whole they stand aside, so that a report that was there before stays as it is, and nothing is
    left where there was none.
    """
    folder = target.path
    aside = folder / f".{SHARD_FOLDER}.{secrets.token_hex(4)}{TEMPORARY}"
    made = _missing(folder)
    try:
        with _writing(target):
            found = write_shards(aside, board.runs, board.scored)
        text = page(found)
        with _writing(target):
            shards = _move(aside / SHARD_FOLDER, folder / SHARD_FOLDER)
            write_text(folder / INDEX, text)
            size = size_text((folder / INDEX).stat().st_size)
        return f"{size}, and {len(shards)} files of trials: {size_text(sum(shards))}"
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if not (folder / INDEX).exists():
            _withdraw(folder, made)


def size_text(size: int) -> str:
    """Bytes for people: three digits, none of them made up."""
    if size < 1000:
        return f"{size} bytes"
    kilo = size / 1000
    if kilo < 999.5:
        return f"{kilo:.1f} kB" if kilo < 9.95 else f"{kilo:.0f} kB"
    return f"{kilo / 1000:,.1f} MB"


def _missing(folder: Path) -> list[Path]:
    """The folders that are not there yet, the innermost first."""
    return [own for own in (folder, *folder.parents) if not own.exists()]


def _move(source: Path, target: Path) -> list[int]:
    """Put shards in place of older ones; returns their sizes."""
    target.mkdir(exist_ok=True)
    sizes: list[int] = []
    for path in sorted(source.iterdir()):
        sizes.append(path.stat().st_size)
        path.replace(target / path.name)
    for path in target.glob("*.js"):
        if path.stem.isdecimal() and int(path.stem) >= len(sizes):
            path.unlink()
    return sizes


def _withdraw(folder: Path, made: list[Path]) -> None:
    """Remove trials that no page lists, and the folders that were made for them."""
    for path in (folder / SHARD_FOLDER).glob("*.js"):
        if path.stem.isdecimal():
            path.unlink(missing_ok=True)
    for own in (folder / SHARD_FOLDER, *made):
        with contextlib.suppress(OSError):
            own.rmdir()


@contextlib.contextmanager
def _writing(target: Target) -> Generator[None]:
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        reason = os.strerror(number) if number else str(error)
        if number in _IN_THE_WAY:
            reason = "a file is where a folder should be"
        if number in NO_ROOM:
            hint = f"{NO_ROOM[number]}, then make the report again."
        else:
            hint = f"{NOT_OURS.get(number, 'Nothing can be written there')}; choose another place with --out."
        raise UsageError(f"cannot write the report: {reason}", where=target.asked, hint=hint) from error
