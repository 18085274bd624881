"""Which run is meant?"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from evalkit.errors import UsageError
from evalkit.trajectory.layout import manifest_file

RUNS = Path("runs")
"""Where runs are kept unless the caller says otherwise, seen from the current folder."""
_LATEST = "latest"
_URI_AS_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])")
"""What a URI has become that somebody took for a path."""


def is_remote(path: str | Path) -> bool:
    """Is this a URI of another filesystem than the local one?"""
    return "://" in str(path) and not str(path).startswith("file://")


def local_path(path: str | Path) -> Path:
    """A local folder for a path or `file://` URI. Raises UsageError for other URIs."""
    text = str(path)
    if is_remote(path):
        raise UsageError(
            "a run is written to a local folder",
            where=text,
            hint="Write it here, then copy the folder there.",
        )
    return Path(unquote(urlsplit(text).path)) if text.startswith("file://") else Path(path)


def new_run_path(path: str | Path) -> Path:
    """Where a run is made that somebody wants there: a path, or `file://` URI; `~` is a home, as in a shell.

    Raises UsageError for what no run can be called.
    """
    text = str(path)
    if isinstance(path, Path) and (uri := _URI_AS_PATH.match(text)):
        text = f"{uri[1]}://{'/' if uri[1] == 'file' else ''}{text[uri.end() :]}"
    where = text.encode("utf-8", "backslashreplace").decode()
    if text == _LATEST:
        raise UsageError(
            "no run can be called `latest`: that stands for the newest one",
            where=where,
            hint="Choose another folder with --out.",
        )
    folder = local_path(text)
    if where != text or "\0" in str(folder):
        raise UsageError(
            "this is no name for a run: it is no valid text",
            where=where.replace("\0", "\\0"),
            hint="Choose another folder with --out.",
        )
    if not text.startswith("~"):
        return folder
    try:
        return folder.expanduser()
    except RuntimeError as error:
        raise UsageError(
            "nobody's home folder is known by this name",
            where=where,
            hint="Choose another folder with --out.",
        ) from error


def local_run(path: str | Path) -> Path:
    """The folder of a local run: a path, a `file://` URI, or `latest`.

    Raises UsageError where there is none.
    """
    if str(path) == _LATEST:
        return latest_run()
    folder = local_path(path)
    if manifest_file(folder).is_file():
        return folder
    if folder.is_dir():
        raise UsageError(
            "this folder is no run: it holds no run.json", where=str(folder), hint=_nearest(folder)
        )
    raise UsageError("there is no run of this name", where=str(folder), hint=_nearest(folder))


def latest_run(runs: Path = RUNS) -> Path:
    """The run that was begun last. Raises UsageError where there is none."""
    known = _runs_in(runs)
    if not known:
        raise UsageError(
            "there is no run yet",
            where=str(runs),
            hint="Make one with: evalkit run core --model scripted/oracle",
        )
    return max(known, key=lambda run: (manifest_file(run).stat().st_mtime_ns, run.name))


def _runs_in(folder: Path) -> list[Path]:
    """What is still being made, or was left half-made, has a name that begins with a dot and is no run yet."""
    if not folder.is_dir():
        return []
    return [run for run in folder.iterdir() if run.name[0] != "." and manifest_file(run).is_file()]


def _nearest(path: Path) -> str:
    places = {run.name: run for folder in (path.parent, RUNS) for run in _runs_in(folder)}
    near = difflib.get_close_matches(path.name, places, n=1)
    return f"Did you mean {places[near[0]]}?" if near else "`latest` stands for the newest run in runs/."
