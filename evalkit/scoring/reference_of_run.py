"""Which reference do the scores of a run rest on?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.scoring.reference import FILE, Reference, read_reference, write_reference
from evalkit.scoring.reference_building import build_reference
from evalkit.trajectory.reader import Run


def reference_of_run(run: Run, path: Path) -> Reference:
    """The one that the run keeps, else one that is made of its own trials and kept nowhere.

    Raises ConfigError for a kept one that cannot be read.
    """
    kept = kept_reference(path)
    return build_reference([run], is_own=True) if kept is None else kept


def kept_reference(path: Path) -> Reference | None:
    """The one that was copied into the run's folder; None where none was. Raises ConfigError where it is damaged."""
    file = path / FILE
    if not (file.is_symlink() or file.exists()):
        return None
    try:
        return read_reference(file)
    except ConfigError as error:
        raise ConfigError(
            error.message,
            where=error.where,
            hint=f"Give the run one again: evalkit score {shlex.quote(str(path))} --reference FILE",
        ) from error


def unmeasured(run: Run, reference: Reference) -> Mapping[str, str]:
    """The run's tasks, as `suite/task`, that it has no place for, in order, and why."""
    found: dict[str, str] = {}
    for row in run.iter_rows():
        name = f"{row.suite}/{row.task_id}"
        if name not in found and reference.of(row) is None:
            found[name] = "another version of it" if name in reference.tasks else "not there"
    return dict(sorted(found.items()))


def keep_reference(path: Path, reference: Reference) -> Reference | None:
    """Copy it into the run's folder, so that it is scored against it from now on. Returns the other one that it
    replaces, if it does; a damaged one is replaced, too.
    """
    try:
        before = kept_reference(path)
    except ConfigError:
        before = None
    if before is not None and before.digest == reference.digest:
        return None
    write_reference(path / FILE, reference)
    return before
