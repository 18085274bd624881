"""What can `evalkit show` be told, beside what to show?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.trial_filter import AgentOption, StatusOption, TaskOption, VariantOption
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.cli.run_view import RunView
    from evalkit.trajectory.reader import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """The options of the command, in the order of its help."""

    by: Annotated[
        str | None, typer.Option(help="Sum up by skill, difficulty, suite, task or variant.", metavar="WORD")
    ] = None
    metric: Annotated[
        list[str] | None, typer.Option(help="Show only these metrics.", metavar="METRIC,...")
    ] = None
    all_metrics: Annotated[
        bool, typer.Option("--all-metrics", help="Show every metric, also those that say little.")
    ] = False
    task: TaskOption = None
    agent: AgentOption = None
    status: StatusOption = None
    variant: VariantOption = None
    failures: Annotated[
        bool, typer.Option("--failures", help="Show failing and unscored trials by their likely cause.")
    ] = False
    follow: Annotated[
        bool, typer.Option("--follow", help="Show trials of a running run as they finish, until it ends.")
    ] = False
    full: Annotated[bool, typer.Option("--full", help="Fold nothing, and leave nothing out.")] = False

    def view(self, run: Run) -> RunView:
        """What of this run is asked for. Raises UsageError for words that nothing in it has."""
        from evalkit.cli.run_view import RunView
        from evalkit.cli.splitting import split
        from evalkit.cli.summing import grouping
        from evalkit.cli.trial_filter import trial_filter

        if self.metric and self.all_metrics:
            raise UsageError(
                "--metric names some metrics, and --all-metrics shows all", hint="Use one of them."
            )
        planned = run.manifest.planned
        known = planned if self.follow and planned else [*run.rows(), *planned]
        asked = trial_filter(
            known, task=self.task, agent=self.agent, status=self.status, variant=self.variant
        )
        metrics = split(self.metric, "--metric")
        return RunView(grouping(self.by), metrics, asked, all_metrics=self.all_metrics, full=self.full)

    def refuse_for_trial(self, trial: str) -> None:
        """Raise UsageError where one of them is about a whole run."""
        chosen = self.task or self.agent or self.status or self.variant
        if chosen or self.by is not None or self.failures or self.all_metrics:
            raise UsageError(
                "--by, --task, --agent, --status, --variant, --failures and --all-metrics are about a run, and this is "
                "one trial of it",
                where=trial,
            )
