"""`evalkit reference`: freeze what each task costs at its cheapest, and look at it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.group import NearestMatch

if TYPE_CHECKING:
    from evalkit.measures.spending import Basis

reference_app = typer.Typer(
    help="Freeze what each task costs at its cheapest, and look at it.",
    cls=NearestMatch,
    no_args_is_help=True,
)
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@reference_app.command("build")
def build(
    runs: Annotated[list[str], typer.Argument(help="Folders of runs, or `latest`.", metavar="RUN...")],
    out: Annotated[Path, typer.Option(help="The file to write.", metavar="FILE")],
    basis: Annotated[
        str | None,
        typer.Option(
            help="output_tokens, reasoning_tokens, cost_usd or agent_s. [tokens; dollars for several models]",
            metavar="BASIS",
        ),
    ] = None,
    merge: Annotated[
        Path | None,
        typer.Option(
            help="Take of each task the lower of this reference's cost and the new one.", metavar="OLD"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write the reference costs of some runs, taken as one cohort, into a file."""
    from evalkit.cli.console import note
    from evalkit.cli.opening import open_run
    from evalkit.cli.reference_table import print_reference
    from evalkit.errors import UsageError
    from evalkit.scoring.reference import merged, read_reference, write_reference
    from evalkit.scoring.reference_building import build_reference

    asked = _basis(basis)
    old = read_reference(merge.resolve()) if merge is not None else None
    made = build_reference([open_run(run) for run in runs], basis=asked or (old.basis if old else None))
    if not made.tasks and not made.excluded:
        raise UsageError(
            "no scored trial without faults is in there, of which a reference could be made",
            where=", ".join(runs),
            hint="Run the suite first: evalkit run SUITE --model MODEL; evalkit show RUN tells what has no verdict.",
        )
    if old is not None:
        made = merged(old, made)
    if (out.exists() or out.is_symlink()) and read_reference(out.resolve()).digest != made.digest:
        raise UsageError(
            "there is another reference already, and scores may rest on it",
            where=str(out),
            hint=f"Write a new file; to go on from the old one: --merge {out} --out NEW",
        )
    write_reference(out, made)
    print_reference(made, json=json)
    note(f"written to {out}; score against it: evalkit score RUN --reference {out}")


@reference_app.command("show")
def show(
    name: Annotated[
        str, typer.Argument(help="A reference's file, the folder of a run, or `latest`.", metavar="FILE|RUN")
    ] = "latest",
    json: Json = False,
) -> None:
    """Show reference costs: of a file, or those that a run's scores rest on."""
    from evalkit.cli.opening import open_run
    from evalkit.cli.reference_table import print_reference
    from evalkit.errors import UsageError
    from evalkit.scoring.reference import read_reference
    from evalkit.scoring.reference_of_run import reference_of_run
    from evalkit.trajectory.locate import local_run

    path = Path(name)
    if path.is_file():
        print_reference(read_reference(path.resolve()), json=json)
    elif path.suffix == ".json" and not path.exists():
        raise UsageError(
            "there is no such file", where=name, hint="Build it: evalkit reference build RUN --out FILE"
        )
    else:
        folder = local_run(name)
        print_reference(reference_of_run(open_run(name), folder), json=json)


def _basis(text: str | None) -> Basis | None:
    from typing import cast, get_args

    from evalkit.errors import UsageError
    from evalkit.measures.spending import Basis

    if text is not None and text not in get_args(Basis):
        raise UsageError(f"{text!r} is no basis", hint=f"It is one of {', '.join(get_args(Basis))}.")
    return cast("Basis | None", text)
