"""`evalkit baseline`: accept a run as what others are compared with, and look at what is accepted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.group import NearestMatch

if TYPE_CHECKING:
    from evalkit.gate.side import Side
    from evalkit.project import Project

baseline_app = typer.Typer(
    help="Accept a run as the baseline of gates, and look at what is accepted.",
    cls=NearestMatch,
    no_args_is_help=True,
)
FOLDER = "baselines"
"""Where baselines lie in a project, unless evalkit.toml says otherwise."""
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@baseline_app.command("accept")
def accept(
    run: Annotated[str, typer.Argument(help="Folder of the run, or `latest`.", metavar="RUN")],
    why: Annotated[str, typer.Option(help="Why it is accepted; kept in the file.", metavar="TEXT")],
    file: Annotated[
        Path | None,
        typer.Option(help="The baseline's file. [evalkit.toml, or baselines/SUITE.json]", metavar="FILE"),
    ] = None,
    pool: Annotated[
        bool,
        typer.Option("--pool", help="Add it to the runs that the file holds, instead of taking their place."),
    ] = False,
    by: Annotated[str | None, typer.Option(help="Who accepts it. [git's user.name]", metavar="NAME")] = None,
) -> None:
    """Write a run into a baseline file, which is then committed like code."""
    from datetime import UTC, datetime

    from evalkit.cli.console import stdout
    from evalkit.cli.opening import open_run
    from evalkit.gate.accepting import accepted, who_accepts
    from evalkit.gate.baseline_file import baseline_text, read_baseline
    from evalkit.gate.policy import GatePolicy
    from evalkit.gate.pooling import pooled
    from evalkit.gate.run_side import side_of_run
    from evalkit.project import find_project
    from evalkit.trajectory.atomic import write_text, writing

    side = side_of_run(open_run(run), name=run)
    path = file or _default_file(find_project(), side)
    baseline = accepted(side, GatePolicy(), at=datetime.now(UTC), by=by or who_accepts(), why=why)
    if pool and path.exists():
        baseline = pooled(str(path), [read_baseline(path.read_bytes(), where=str(path)), baseline])
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, baseline_text(baseline))
    runs, trials = len(baseline.accepted), len(baseline.side.scored.trials)
    stdout().print(
        f"Accepted {run} into {path}: {runs} run{'s' if runs != 1 else ''}, {trials} trials.\n"
        f"Commit it; then: evalkit gate RUN --baseline {path if path.is_absolute() else f'git:BASE_BRANCH:./{path}'}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


@baseline_app.command("show")
def show(
    file: Annotated[
        str, typer.Argument(help="A baseline's file, or git:REF:PATH.", metavar="FILE|git:REF:PATH")
    ],
    json: Json = False,
) -> None:
    """Show what was accepted: which runs, by whom, why, and how often each agent passed."""
    from evalkit.cli.baseline_table import baselines_as_json, print_baselines
    from evalkit.cli.console import print_json
    from evalkit.gate.baseline_source import accepted_baseline

    found = {file: accepted_baseline(file)}
    if json:
        print_json(baselines_as_json(found))
    else:
        print_baselines(found)


@baseline_app.command("list")
def list_(
    folder: Annotated[
        Path | None, typer.Argument(help="Where to look. [baselines]", metavar="FOLDER")
    ] = None,
    json: Json = False,
) -> None:
    """List the baselines of this project."""
    from evalkit.cli.baseline_table import baselines_as_json, print_baselines
    from evalkit.cli.console import print_json
    from evalkit.gate.baseline_source import accepted_baseline
    from evalkit.project import find_project

    project = find_project()
    paths = sorted((folder or project.file(FOLDER)).glob("*.json"))
    named = project.settings.gate.baseline
    if (
        folder is None
        and named is not None
        and not named.startswith("git:")
        and project.file(named).is_file()
    ):
        paths = sorted({*paths, project.file(named)})
    found = {str(path): accepted_baseline(str(path)) for path in paths}
    if json:
        print_json(baselines_as_json(found))
    else:
        print_baselines(found)


def _default_file(project: Project, side: Side) -> Path:
    """What evalkit.toml names, or a file named after the suite; as a path from here, which git knows, too."""
    named = project.settings.gate.baseline
    if named is None:
        suites = sorted({trial.suite for trial in side.scored.trials})
        named = f"{FOLDER}/{'+'.join(suite.replace('/', '-') for suite in suites) or 'baseline'}.json"
    return Path(os.path.relpath(project.file(named.split(":", 2)[-1] if named.startswith("git:") else named)))
