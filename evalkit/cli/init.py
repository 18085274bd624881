"""`evalkit init`: make a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the project.")] = Path(),
    name: Annotated[str, typer.Option(help="Name of its first suite.")] = "smoke",
) -> None:
    """Make evalkit.toml, a first small suite that works at once, a gate policy, and a scorer of your own."""
    from evalkit.tasks.project_scaffold import new_project

    for made in new_project(folder, name):
        typer.echo(f"made {made}")
    go = "" if folder == Path() else f"cd {folder} && "
    typer.echo(f"\nProve the suite: {go}evalkit suite check {name}\nRun it:          {go}evalkit run")
