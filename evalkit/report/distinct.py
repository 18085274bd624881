"""Which of the runs that were named are one and the same?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalkit.trajectory.locate import is_remote
from evalkit.trajectory.reader import Run


def distinct(runs: Sequence[tuple[str, Run]]) -> tuple[list[tuple[str, Run]], tuple[str, ...]]:
    """Each run once, by its real path and by its id, and a note for each that is left out.

    A copy of a run tells of no further trials: counted twice, they would make every number look surer.
    """
    kept: list[tuple[str, Run]] = []
    notes: list[str] = []
    known: dict[str, str] = {}
    for name, run in runs:
        path, run_id = f"path {_real(run.path)}", f"id {run.manifest.run_id}"
        if path in known:
            notes.append(f"{name} is the run {known[path]} under another name, and counts once.")
        elif run_id in known:
            notes.append(
                f"{name} is a copy of {known[run_id]} (both are the run {run.manifest.run_id}), and is left out."
            )
        else:
            kept.append((name, run))
            known[path] = known[run_id] = name
    return kept, tuple(notes)


def _real(path: str) -> str:
    return path if is_remote(path) else os.path.realpath(Path(path))
