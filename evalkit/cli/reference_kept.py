"""What is said when a run is given the reference that its scores rest on?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from evalkit.cli.console import note

_NAMED = 5


def keep(run: Path, file: Path) -> None:
    """Copy a reference into a run, and say so where it had another one, and which tasks it has no place for.

    Raises ConfigError for a file that is none, NotComparable for one that has none of the run's tasks.
    """
    from evalkit.errors import NotComparable
    from evalkit.scoring.reference import read_reference
    from evalkit.scoring.reference_of_run import keep_reference, unmeasured
    from evalkit.trajectory.reader import load

    reference, opened = read_reference(file.resolve()), load(run)
    tasks = {f"{row.suite}/{row.task_id}" for row in opened.iter_rows()}
    missing = unmeasured(opened, reference)
    if tasks and len(missing) == len(tasks):
        raise NotComparable(
            f"the reference measures none of the run's tasks: {_listed(missing)}",
            where=str(file),
            hint=f"Build one of them: evalkit reference build {shlex.quote(str(run))} --out FILE",
        )
    before = keep_reference(run, reference)
    if before is not None:
        note(
            f"the run was scored against another reference, {before.digest[:12]}; scores that are not computed now "
            f"rest on it until: evalkit score {shlex.quote(str(run))}"
        )
    if missing:
        note(f"{len(missing)} of {len(tasks)} tasks have no efficiency by this reference: {_listed(missing)}")


def _listed(missing: Mapping[str, str]) -> str:
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return ", ".join(f"{name} ({why})" for name, why in list(missing.items())[:_NAMED]) + more
