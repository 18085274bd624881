"""What is said when a run is given the reference that its scores rest on?"""

from __future__ import annotations

import shlex
from pathlib import Path

from evalkit.cli.console import note


def keep(run: Path, file: Path) -> None:
    """Copy a reference into a run, and say so where it had another one.

    Raises ConfigError for a file that is none.
    """
    from evalkit.scoring.reference import read_reference
    from evalkit.scoring.reference_of_run import keep_reference

    before = keep_reference(run, read_reference(file.resolve()))
    if before is not None:
        note(
            f"the run was scored against another reference, {before.digest[:12]}; scores that are not computed now "
            f"rest on it until: evalkit score {shlex.quote(str(run))}"
        )
