"""How is a run opened to be looked at?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.trajectory.reader import Run


def open_run(run: str) -> Run:
    """Open a run, after keeping what a killed process was doing; one that cannot be written to is opened as it is."""
    from evalkit.cli.console import note
    from evalkit.trajectory.locate import is_remote, local_run
    from evalkit.trajectory.reader import load
    from evalkit.trajectory.recovery import recover

    if not is_remote(run):
        folder = local_run(run)
        try:
            recover(folder)
        except UsageError as error:
            note(f"warning: trials in flight are not shown: {error.message}")
    return load(run)
