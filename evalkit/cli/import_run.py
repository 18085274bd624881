"""`evalkit import`: make a run of what another harness has written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evalkit.convert.importing import Imported

_SHOWN = 20


def import_run(
    format_name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="auto, inspect, atif, mini-swe-agent, tau-bench, tau2, verifiers, openai-messages or claude-code.",
        ),
    ],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, and folders of them.")],
    out: Annotated[
        str | None, typer.Option(metavar="<path>", help="Folder of the new run. [runs/<time>-<format>]")
    ] = None,
    pass_reward: Annotated[
        float,
        typer.Option(help="A reward from which on a trial counts as passed, where there are rewards only."),
    ] = 1.0,
    suite: Annotated[str | None, typer.Option(help="Call the suite this, whatever the files say.")] = None,
    agent: Annotated[str | None, typer.Option(help="Call the agent this, whatever the files say.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a run of trajectories that another harness has written, and score it."""
    import math

    from evalkit.cli.console import print_json
    from evalkit.cli.run_table import print_run, run_as_json
    from evalkit.cli.scoring import refuse_failures, score_finished
    from evalkit.convert.importer import Options
    from evalkit.errors import Incomplete, UsageError
    from evalkit.project import find_project
    from evalkit.scoring.registry import find_scorers
    from evalkit.trajectory.reader import load

    if not math.isfinite(pass_reward):
        raise UsageError(
            "--pass-reward must be a finite number", hint="Such as 1, which is what it is unless told."
        )
    scorers = find_scorers(find_project())
    done = _imported(format_name, paths, out, Options(pass_reward=pass_reward, suite=suite, agent=agent))
    scored = score_finished(done.path, scorers)
    run = load(done.path)
    if json:
        print_json({**run_as_json(run), "import": _as_json(done)})
    else:
        print_run(run)
    if done.incomplete:
        raise Incomplete(
            f"{len(done.incomplete)} of {len(done.files)} files were not imported whole; all else is in the run",
            where=str(done.path),
            hint="Each is named above, with the reason.",
        )
    refuse_failures(done.path, scored)


def _imported(format_name: str, paths: list[Path], out: str | None, options: object) -> Imported:
    from evalkit.cli.console import note
    from evalkit.convert.importer import Options
    from evalkit.convert.importing import import_run as do_import

    assert isinstance(options, Options)
    done = do_import(format_name, paths, out, options)
    note(_summary(done))
    for report in done.incomplete[:_SHOWN]:
        if report.refused is not None:
            note(f"not imported: {report.name}: {report.refused}")
        for text, times in list(report.notes.losses.items())[:_SHOWN]:
            note(f"missing of {report.name}: {text}{f' ({times} times)' if times > 1 else ''}")
    if len(done.incomplete) > _SHOWN:
        note(f"and {len(done.incomplete) - _SHOWN} further files were not imported whole")
    for line in _warnings(done):
        note(f"warning: {line}")
    return done


def _summary(done: Imported) -> str:
    formats = sorted({report.format for report in done.files if report.format})
    read = sum(report.trials > 0 for report in done.files)
    told = (
        f"{done.adding.trials} trials out of {read} files ({', '.join(formats)}) are now the run {done.path}"
    )
    return told if not done.left_alone else f"{told}; {done.left_alone} other files were left alone"


def _warnings(done: Imported) -> list[str]:
    """The remarks on all files together, each once, with where it was first."""
    found: dict[str, tuple[int, int, str]] = {}
    for report in done.files:
        for text, times in report.notes.warnings.items():
            count, files, first = found.get(text, (0, 0, report.name))
            found[text] = (count + times, files + 1, first)
    lines = [
        f"{text} ({count} times, {f'in {first}' if files == 1 else f'in {files} files, first {first}'})"
        for text, (count, files, first) in found.items()
    ]
    more = len(lines) - _SHOWN
    return lines if more <= 0 else [*lines[:_SHOWN], f"and {more} further remarks: --json has all"]


def _as_json(done: Imported) -> dict[str, object]:
    return {
        "files": [
            {
                "path": report.name,
                "format": report.format,
                "trials": report.trials,
                "refused": report.refused,
                "missing": dict(report.notes.losses),
                "warnings": dict(report.notes.warnings),
            }
            for report in done.files
        ],
        "left_alone": done.left_alone,
        "copies": done.adding.copies,
        "repeats": done.adding.repeats,
    }
