"""What do suites look like as tables, and as JSON?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.tasks.suite import Suite


def print_suites(suites: Sequence[Suite]) -> None:
    """One line a suite."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("suite", no_wrap=True)
    table.add_column("tasks", justify="right")
    table.add_column("description")
    for suite in suites:
        table.add_row(cell(suite.name), str(len(suite.tasks)), cell(suite.description))
    stdout().print(table)


def suites_as_json(suites: Sequence[Suite]) -> dict[str, object]:
    """All suites for programs."""
    return {
        "suites": [
            {
                "name": suite.name,
                "version": suite.version,
                "description": suite.description,
                "tasks": len(suite.tasks),
                "digest": suite.digest,
                "path": str(suite.path),
            }
            for suite in suites
        ]
    }


def print_suite(suite: Suite) -> None:
    """A suite's head, and one line a task."""
    console = stdout()
    console.print(printable(f"{suite.name} {suite.version or ''}  {suite.description}"), markup=False)
    console.print(f"digest {suite.digest}\n", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "difficulty", "skills", "graded"):
        table.add_column(name, overflow="fold")
    table.add_column("checks", justify="right")
    table.add_column("minutes", justify="right")
    for task in suite.tasks:
        settings = task.settings
        table.add_row(
            cell(task.id),
            settings.difficulty or "-",
            cell(", ".join(settings.skills)),
            task.grading_mode,
            str(len(settings.grading.checks)) if settings.grading and settings.grading.checks else "-",
            "-" if settings.minutes is None else f"{settings.minutes:g}",
        )
    console.print(table)


def suite_as_json(suite: Suite) -> dict[str, object]:
    """A suite for programs."""
    return {
        "name": suite.name,
        "version": suite.version,
        "description": suite.description,
        "digest": suite.digest,
        "path": str(suite.path),
        "warnings": list(suite.warnings),
        "tasks": [
            {
                "task": task.id,
                "digest": task.digest,
                "difficulty": task.settings.difficulty,
                "skills": list(task.settings.skills),
                "grading": task.grading_mode,
                "checks": list(task.settings.grading.checks) if task.settings.grading else [],
            }
            for task in suite.tasks
        ],
    }
