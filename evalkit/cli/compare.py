"""`evalkit compare`: two agents side by side, task by task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.cli.compared import Compared


def compare(
    a: Annotated[str, typer.Argument(help="Folder of run A, or `latest`.", metavar="A")],
    b: Annotated[str | None, typer.Argument(help="Folder of run B. [A itself]", metavar="B")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Compare only these metrics.", metavar="METRIC,...")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Compare by skill, difficulty, suite, task or variant.", metavar="WORD")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare this agent only; given twice, the first of A with the second of B.", metavar="ID"
        ),
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="This agent of A is that one of B.", metavar="A_ID=B_ID"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare the agents of two runs, or two agents of one, at the tasks that both tried."""
    from evalkit.cli.compare_json import comparison_as_json
    from evalkit.cli.compare_table import print_comparison
    from evalkit.cli.console import print_json
    from evalkit.cli.mapping import mapping
    from evalkit.cli.splitting import split

    if b is None and len(agent or ()) != 2:
        raise UsageError(
            "one run is compared with another, or two agents of one run with each other",
            hint=f"evalkit compare {a} OTHER_RUN, or: evalkit compare {a} --agent ONE --agent OTHER",
        )
    compared = _compare(a, b or a, by=by, agents=agent or [], mapped=mapping(map_ or []))
    metrics = split(metric, "--metric")
    compared.check(metrics)
    if json:
        print_json(comparison_as_json(compared, metrics))
    else:
        print_comparison(compared, metrics)


def _compare(a: str, b: str, *, by: str | None, agents: list[str], mapped: dict[str, str]) -> Compared:
    from evalkit.cli.compared import Compared
    from evalkit.cli.opening import open_run
    from evalkit.cli.summing import declared_metrics, grouping, scores_of
    from evalkit.scoring.agent_match import match_agents
    from evalkit.scoring.agent_settings import changes, settings_of
    from evalkit.scoring.paired import Side
    from evalkit.scoring.paired import compare as paired
    from evalkit.scoring.scored_trials import stored_scorers

    group = grouping(by)
    run_a = open_run(a)
    run_b = run_a if b == a else open_run(b)
    declared = declared_metrics({*stored_scorers(run_a), *stored_scorers(run_b)})
    scored_a = scores_of(run_a, declared)
    scored_b = scored_a if run_b is run_a else scores_of(run_b, declared)
    match = match_agents(_agents(scored_a), _agents(scored_b), wanted=agents, mapped=mapped)
    settings_a, settings_b = settings_of(run_a), settings_of(run_b)
    return Compared(
        path_a=run_a.path,
        path_b=run_b.path,
        by=group,
        match=match,
        comparisons=tuple(
            paired(Side(scored_a, one), Side(scored_b, other), declared, by=group)
            for one, other in match.pairs
        ),
        changes=tuple(changes(settings_a[one], settings_b[other]) for one, other in match.pairs),
        without_scores=tuple(
            run.path for run, scored in ((run_a, scored_a), (run_b, scored_b)) if not scored.columns
        ),
    )


def _agents(scored: object) -> list[str]:
    from evalkit.scoring.scored_trials import ScoredTrials

    return sorted({trial.agent for trial in scored.trials}) if isinstance(scored, ScoredTrials) else []
