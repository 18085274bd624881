"""`evalkit suite`: list, show, prove and make suites."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.group import NearestMatch
from evalkit.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.engine.check import Proof
    from evalkit.engine.check_plan import Exploits
    from evalkit.engine.finding import Finding
    from evalkit.engine.prepare import Prepared
    from evalkit.tasks.learned import Learned

suite_app = typer.Typer(help="List, show, prove and make suites.", cls=NearestMatch, no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A suite by name or path.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
PROVERS = ("scripted/oracle", "scripted/nop", "scripted/naive")


class Attacks(StrEnum):
    """Which attacks a suite is proven against."""

    all = "all"
    own = "own"
    none = "none"


@suite_app.command("list")
def list_suites(json: Json = False) -> None:
    """List the suites of this project and the bundled ones."""
    from evalkit.cli.console import print_json
    from evalkit.cli.suite_table import print_suites, suites_as_json
    from evalkit.project import find_project
    from evalkit.tasks.suite import load_suite

    project = find_project()
    suites = [load_suite(project.resolve("suites", name)) for name in project.names("suites")]
    if json:
        print_json(suites_as_json(suites))
    else:
        print_suites(suites)


@suite_app.command("show")
def show_suite(name: Name, json: Json = False) -> None:
    """Show a suite's tasks."""
    from evalkit.cli.console import note, print_json
    from evalkit.cli.suite_table import print_suite, suite_as_json
    from evalkit.project import find_project
    from evalkit.tasks.suite import load_suite

    suite = load_suite(find_project().resolve("suites", name))
    if json:
        print_json(suite_as_json(suite))
        return
    for warning in suite.warnings:
        note(f"warning: {warning}")
    print_suite(suite)


@suite_app.command("check")
def check(
    name: Name,
    task: Annotated[
        str | None,
        typer.Option(help="Only tasks whose id matches this pattern; with ! before it, all others."),
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN.toml|none", help="Prove a plan's faults beside the tasks' own, or none at all."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the proving run in this folder.")] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Keep in learned.json what changes without anybody's doing."),
    ] = False,
    exploits: Annotated[
        Attacks,
        typer.Option(help="Attack every task by all of the corpus and its own, by its own, or by none."),
    ] = Attacks.all,
    sandbox: Annotated[str, typer.Option(help="Where tasks run.")] = "local",
    json: Json = False,
) -> None:
    """Prove a suite: the oracle passes twice alike and recovers from every fault; doing nothing, and carelessness where
    something goes wrong, fail; so do attacks, which are found out; nobody passes an impossible twin.
    """
    from evalkit.cli.console import note, print_json
    from evalkit.cli.suite_proof import findings_as_json, print_findings
    from evalkit.engine.prepare import RunFlags, prepare

    prepared = prepare(
        RunFlags(suites=(name,), models=PROVERS, faults=faults, sandbox=sandbox),
        use_defaults=False,
    )
    for warning in (*prepared.warnings, *_left_out(faults)):
        note(f"warning: {warning}")
    proof = _proof(prepared, task, out, learn=learn, exploits=exploits.value)
    if learn:
        note(f"learned: {_keep(prepared, proof.learned)}")
    if json:
        print_json(findings_as_json(proof.findings))
    else:
        print_findings(proof.findings)
    _refuse_unfit(name, proof.findings)


def _proof(
    prepared: Prepared, task: str | None, out: Path | None, *, learn: bool, exploits: Exploits
) -> Proof:
    """What the proving run shows, which is kept in `out`, or nowhere."""
    import tempfile

    from evalkit.cli.console import note
    from evalkit.cli.progress import live_progress
    from evalkit.cli.suite_proof import announced
    from evalkit.engine.check_plan import check_plan

    trials = check_plan(prepared, task, exploits)
    note(announced(trials, prepared.sandbox))
    with (
        tempfile.TemporaryDirectory(prefix="evalkit-check-") as scratch,
        live_progress(len(trials)) as progress,
    ):
        from evalkit.engine.check import check_suite

        folder = out or Path(scratch) / "run"
        return check_suite(prepared, task, folder, progress, learn=learn, exploits=exploits)


def _refuse_unfit(name: str, findings: Sequence[Finding]) -> None:
    """Raise CheckFailed where there is something wrong with a task."""
    bad = [finding.task for finding in findings if finding.problems]
    if bad:
        raise CheckFailed(
            f"{len(bad)} of {len(findings)} tasks are not fit to judge anybody by: {', '.join(bad)}",
            hint=f"Keep the proving run to look into it: evalkit suite check {name} --out FOLDER",
        )


def _keep(prepared: Prepared, learned: Mapping[str, Learned]) -> str:
    """Write down what was learned; says where."""
    from evalkit.tasks.learned import write_learned
    from evalkit.tasks.suite import Suite

    (suite,) = prepared.suites
    if not isinstance(suite, Suite):
        raise UsageError("nothing can be learned of an Inspect task", hint="Leave out --learn.")
    return str(write_learned(suite.path, learned, {task.id: task.digest for task in suite.tasks}))


def _left_out(faults: str | None) -> tuple[str, ...]:
    """What a run of this project would meet beside, and this proof does not."""
    import os.path

    from evalkit.project import find_project

    project = find_project()
    usual = project.settings.run.faults
    if faults is not None or usual is None or usual == "none":
        return ()
    plan = os.path.relpath(project.root / usual)
    return (f"the faults of {plan}, which evalkit.toml adds to a run, are not proven here: --faults {plan}",)


@suite_app.command("refresh")
def refresh_suite(name: Name) -> None:
    """Put this version's grader helper in place of older copies in a suite's tasks."""
    from evalkit.cli.console import note
    from evalkit.engine.helper_copy import refresh
    from evalkit.project import find_project
    from evalkit.tasks.suite import load_suite

    try:
        made = refresh(load_suite(find_project().resolve("suites", name)))
    except OSError as error:
        raise UsageError(
            f"a copy cannot be written: {error.strerror}", where=error.filename and str(error.filename)
        ) from None
    for folder in made:
        typer.echo(f"refreshed {folder}")
    note(
        f"Tasks that changed are other tasks now; prove them again: evalkit suite check {name} --learn"
        if made
        else "Every copy is this version's already."
    )


@suite_app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Name of the new suite.")],
    path: Annotated[Path | None, typer.Option(help="Its folder. [suites/<name>]")] = None,
) -> None:
    """Make a small suite that works at once, to be changed into your own."""
    from evalkit.tasks.project_scaffold import refuse_bundled
    from evalkit.tasks.scaffold import new_suite

    refuse_bundled(name)
    folder = path or Path("suites") / name
    for made in new_suite(folder, name):
        typer.echo(f"made {made}")
    typer.echo(f"\nProve it: evalkit suite check {folder}\nRun it:   evalkit run {folder}")
