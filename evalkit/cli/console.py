"""How does the command line speak?

Results go to standard output, notes and progress to standard error. Text from trajectories is hostile:
control characters never reach the terminal.
"""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.markup import escape

from evalkit.trajectory.printable import printable


class _Results(Console):
    def on_broken_pipe(self) -> None:
        """End as other programs do whose output nobody reads any more; Rich's own way is exit code 1."""
        raise BrokenPipeError


class _Notes(Console):
    def on_broken_pipe(self) -> None:
        """Go on in silence: nobody's trials end because nobody looks at the progress any more."""
        self.quiet = True


def stdout() -> Console:
    """The console for results."""
    return _Results(highlight=False, soft_wrap=False, emoji=False)


def stderr() -> Console:
    """The console for notes and progress."""
    return _Notes(stderr=True, highlight=False, emoji=False)


def note(text: str) -> None:
    """Say something beside the result."""
    typer.echo(f"evalkit: {printable(text)}", err=True)


def print_json(value: object) -> None:
    """Print a result for programs."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def cell(text: str) -> str:
    """The text for a table's cell: printable, and no markup."""
    return escape(printable(text))
