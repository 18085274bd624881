"""What does a new project start with?"""

from __future__ import annotations

from pathlib import Path

from evalkit._content import ROOT
from evalkit.errors import UsageError
from evalkit.tasks.scaffold import new_suite

_PROJECT = """\
# Defaults of `evalkit run` in this project; every key of [run] is also a flag.
[run]
suites = ["{name}"]
models = ["scripted/oracle"]
epochs = 1
sandbox = "local"
"""


def refuse_bundled(name: str) -> None:
    """Raise UsageError for the name of a bundled suite: two different suites under one name help nobody."""
    if (ROOT / "suites" / name).exists():
        raise UsageError(f"'{name}' is a bundled suite", hint="Choose another name for yours.")


def new_project(folder: Path, suite: str) -> tuple[Path, ...]:
    """Write evalkit.toml and a first suite; returns what was made.

    Raises UsageError where a project is there already; nothing is overwritten.
    """
    project = folder / "evalkit.toml"
    if project.exists():
        raise UsageError(
            "there is a project here already", where=str(project), hint="Edit it, or choose another folder."
        )
    refuse_bundled(suite)
    made = new_suite(folder / "suites" / suite, suite)
    project.write_text(_PROJECT.format(name=suite), "utf-8")
    return (project, *made)
