"""`evalkit gate`: may this change go in?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evalkit.gate.judge import Case
    from evalkit.project import Project


def gate(
    run: Annotated[str, typer.Argument(help="Folder of the candidate run, or `latest`.", metavar="RUN")],
    baseline: Annotated[
        str | None,
        typer.Option(
            help="What it is compared with: an accepted file, git:REF:PATH, or a run. [evalkit.toml]",
            metavar="FILE|git:REF:PATH|RUN",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="What is accepted. [evalkit.toml; success may drop by 5 points]", metavar="FILE"),
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="text, json, junit, markdown or sarif. [text; all with --out]",
            metavar="WORD,...",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write every format but text to files in here.", metavar="DIR")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End with 4 where the tasks cannot tell.")] = False,
    github: Annotated[
        bool, typer.Option("--github", help="Write annotations, and the summary of a GitHub Actions step.")
    ] = False,
    comment_key: Annotated[
        str | None,
        typer.Option(
            help="Marks the Markdown, to find a comment again. [policy and baseline]", metavar="TEXT"
        ),
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map", help="This agent of the run is that one of the baseline.", metavar="ID=BASELINE_ID"
        ),
    ] = None,
) -> None:
    """Compare a run with an accepted baseline, and end with 0, or 3 where it got worse.

    0 pass, 3 regressed, 4 inconclusive and --strict, 5 not comparable, 2 wrong usage.
    """
    from evalkit.cli.gate_output import deliver, wanted_formats
    from evalkit.cli.splitting import split
    from evalkit.gate.judge import judge

    formats = wanted_formats(split(format_, "--format"), out)
    verdict = judge(_case(run, baseline, policy, map_ or []))
    deliver(verdict, formats, out=out, github=github, strict=strict, key=comment_key)
    raise typer.Exit(verdict.exit_code(strict=strict))


def _case(run: str, baseline: str | None, policy: Path | None, mapped: list[str]) -> Case:
    from evalkit.cli.mapping import mapping
    from evalkit.cli.opening import open_run
    from evalkit.errors import UsageError
    from evalkit.gate.baseline_source import baseline_side
    from evalkit.gate.evidence import evidence_in
    from evalkit.gate.judge import Case
    from evalkit.gate.policy import GatePolicy
    from evalkit.gate.policy_file import read_policy
    from evalkit.gate.run_side import side_of_run
    from evalkit.gate.tampering import findings_in
    from evalkit.project import find_project
    from evalkit.scoring.registry import find_scorers

    project = find_project()
    spec = baseline or _default(project, project.settings.gate.baseline)
    if spec is None:
        raise UsageError(
            "a gate compares a run with a baseline, and none is named",
            hint=f"Accept a run first, `evalkit baseline accept {run}`, then: evalkit gate RUN --baseline FILE",
        )
    policy_file = policy or _default(project, project.settings.gate.policy)
    declared = {found.name: found.scorer.metrics for found in find_scorers(project)}
    candidate = open_run(run)
    side = side_of_run(candidate, name=run)
    return Case(
        candidate=side,
        findings=findings_in(candidate, side.scored),
        baseline=baseline_side(spec) or side_of_run(open_run(spec), name=spec),
        policy=GatePolicy() if policy_file is None else read_policy(Path(policy_file)),
        declared=declared,
        find_evidence=evidence_in(candidate),
        mapped=mapping(mapped),
    )


def _default(project: Project, name: str | None) -> str | None:
    """A file of evalkit.toml, which is relative to the project; git:REF:PATH is taken as it is.

    As a path from here, so that what is printed and written does not tell where the project lies.
    """
    return name if name is None or name.startswith("git:") else os.path.relpath(project.file(name))
