"""`evalkit power`: what can a suite of so many tasks decide?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evalkit.gate.power import Chances, Design


def power(
    tasks: Annotated[int, typer.Option(help="Tasks of the suite.", metavar="N")],
    epochs: Annotated[int, typer.Option(help="Epochs of the candidate.", metavar="N")] = 4,
    margin: Annotated[
        str, typer.Option(help="How far success may drop: 5pp, or 0.05.", metavar="AMOUNT")
    ] = "5pp",
    baseline_epochs: Annotated[
        int | None,
        typer.Option(help="Epochs of all accepted runs together. [as the candidate's]", metavar="N"),
    ] = None,
    difficulty: Annotated[
        str,
        typer.Option(help="How success differs between tasks: a,b of a Beta distribution.", metavar="A,B"),
    ] = "1,0.6",
    min_tasks: Annotated[
        int, typer.Option(help="Fewer decide nothing, as in the policy.", metavar="N", min=2)
    ] = 10,
    runs: Annotated[
        int, typer.Option(help="Pairs of runs to simulate.", metavar="N", min=100, max=100_000)
    ] = 1_000,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Simulate the gate on a suite of this size, so that it can be made large enough."""
    from evalkit.cli.console import print_json, stdout
    from evalkit.gate.power import Design, chances, tasks_for

    design = Design(
        tasks=tasks,
        epochs=epochs,
        baseline_epochs=epochs if baseline_epochs is None else baseline_epochs,
        margin=_margin(margin),
        difficulty=_difficulty(difficulty),
        min_tasks=min_tasks,
    )
    drops = [0.0, design.margin, 2 * design.margin, 3 * design.margin]
    found = [
        chances(design, drop, runs=runs, seed=place)
        for place, drop in enumerate(drops)
        if drop < _mean(design)
    ]
    needed = tasks_for(design)
    if json:
        print_json(_as_json(design, found, needed))
        return
    for line in _lines(design, found, needed):
        stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _margin(text: str) -> float:
    from evalkit.errors import UsageError
    from evalkit.gate.policy_file import margin_of

    try:
        number: float | None = float(text)
    except ValueError:
        number = margin_of(text)
    if number is None:
        raise UsageError(f"--margin {text!r} is no amount", hint="Write 5pp, 5% or 0.05.")
    return number


def _difficulty(text: str) -> tuple[float, float]:
    from evalkit.errors import UsageError

    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        a = b = 0.0
    if not (0 < a <= 1_000 and 0 < b <= 1_000):
        raise UsageError(
            f"--difficulty {text!r} names no Beta distribution", hint="Write two numbers above 0: 1,0.6"
        )
    return a, b


def _mean(design: Design) -> float:
    from evalkit.gate.power import mean_success

    return mean_success(design.difficulty)


def _lines(design: Design, found: list[Chances], needed: int | None) -> list[str]:
    pooled = "" if design.baseline_epochs == design.epochs else f", {design.baseline_epochs} in the baseline"
    epochs = f"{design.epochs} epoch{'s' if design.epochs != 1 else ''}"
    head = f"{design.tasks} tasks, {epochs}{pooled}, margin {100 * design.margin:.3g} points:"
    table = [
        f"  a true drop of {100 * own.drop:4.1f} points: passes {_percent(own.passed)}, regressed "
        f"{_percent(own.regressed)}, cannot tell {_percent(own.inconclusive)}"
        for own in found
    ]
    simulated = (
        f"Simulated, {found[0].runs:,} pairs of runs each; the success of tasks ~ "
        f"Beta({design.difficulty[0]:g}, {design.difficulty[1]:g}), {100 * _mean(design):.0f} % on average."
    )
    many = "more than 5,000 tasks" if needed is None else f"about {needed:,} tasks"
    return [
        head,
        *table,
        f"{many} let an unchanged agent pass four times of five.",
        simulated,
    ]


def _percent(share: float) -> str:
    return f"{100 * share:5.1f} %"


def _as_json(design: Design, found: list[Chances], needed: int | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "design": asdict(design),
        "chances": [asdict(own) for own in found],
        "tasks_for_80_percent": needed,
    }
