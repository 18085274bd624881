"""What does a run look like as a table, and as JSON?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from evalkit.cli.agent_table import agent_rows, arm_as_json, print_agents, total
from evalkit.cli.metric_json import declarations_as_json, groups_as_json, metrics_as_json
from evalkit.cli.metric_table import print_glance, print_metrics
from evalkit.cli.metric_words import undeclared
from evalkit.cli.prose import INDENT, say, say_unbroken
from evalkit.cli.run_view import DEFAULT, RunView
from evalkit.cli.summing import Declared, only, quantities_of, run_scores, summary_of, without_parts
from evalkit.cli.sweep_json import routing_as_json, sweeps_as_json
from evalkit.cli.sweep_table import print_sweeps
from evalkit.cli.tampering_lines import tampering_lines
from evalkit.cli.thinking_lines import about_thinking
from evalkit.cli.trial_filter import TrialFilter
from evalkit.cli.trials_table import most_telling, print_trials
from evalkit.measures.unfired_fault import why_endless, why_unfired
from evalkit.scoring.chosen import chosen
from evalkit.scoring.routed import routed
from evalkit.scoring.routing_lines import routing_lines
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.summary import Summary
from evalkit.scoring.sweep import sweeps
from evalkit.scoring.swept_trial import swept_trials
from evalkit.scoring.tampered import Codes, codes_by_trial
from evalkit.trajectory.printable import quoted
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.unfinished import missing, why_missing

MAX_ROWS = 16


def run_as_json(
    run: Run, view: RunView = DEFAULT, *, scorers: Collection[str] | None = None
) -> dict[str, object]:
    """The run for programs: `{"agents": [{"agent": id, "metrics": {"pass^1": {...}}}]}` and its trials.

    Where the view groups, each agent has `groups`, too. All metrics, unless the view names some, or those of these
    scorers.
    """
    by, metrics, asked = view.by, view.metrics, view.asked
    everything = _trials(run)
    trials = [trial for trial in everything if asked.holds(trial)]
    scored, declared = _scores(run, asked)
    summary = only(summary_of(scored, declared, scorers=scorers, metrics=metrics), metrics, run.path)
    groups = None if by is None else summary_of(scored, declared, by=by, scorers=scorers, metrics=metrics)
    rows, tampered = agent_rows(trials), codes_by_trial(run)
    swept = swept_trials(run, scored)
    return {
        "run": str(run.path),
        "only": asked.as_json(),
        "planned": len(run.manifest.planned) or None,
        "missing": (lacking := _missing(run, everything, asked)),
        "why_missing": why_missing(run.path) if lacking else None,
        "agents": [
            {
                "agent": agent,
                **metrics_as_json([own for own in summary.cells if own.agent == agent]),
                "passed": sum(row.passed for row in own_rows),
                "failed": sum(row.failed for row in own_rows),
                "unscored": sum(row.unscored for row in own_rows),
                "cost_usd": total(row.known_usd for row in own_rows)
                if all(row.cost_is_whole for row in own_rows)
                else None,
                "arms": {row.arm: arm_as_json(row) for row in own_rows},
                **({} if groups is None else _groups(only(groups, metrics, run.path), agent)),
            }
            for agent in dict.fromkeys(row.agent for row in rows)
            for own_rows in [[row for row in rows if row.agent == agent]]
        ],
        "by": by,
        "declared": declarations_as_json(quantities_of(summary)),
        "scorers": list(summary.scorers),
        "not_scored": dict(summary.not_scored),
        "undeclared": undeclared(summary),
        "unfired_faults": [
            {"trial": trial, "reason": reason}
            for reason, alike in _unfired(run, trials).items()
            for trial in alike
        ],
        "sweeps": (found := sweeps_as_json(sweeps(swept))),
        "routing": routing_as_json(routed(swept)) if found else [],
        "trials": [_trial_as_json(trial, tampered.get(trial.trial_id)) for trial in trials],
    }


def _groups(groups: Summary, agent: str) -> dict[str, object]:
    return {"groups": groups_as_json([own for own in groups.cells if own.agent == agent])}


def print_run(run: Run, view: RunView = DEFAULT) -> None:
    """Print the agents' table, a table of metrics, and the trials' table."""
    everything, asked = _trials(run), view.asked
    trials = [trial for trial in everything if asked.holds(trial)]
    say_asked(asked, len(trials), len(everything))
    flags: list[str] = []
    if trials or asked.is_all:
        scored, declared = _scores(run, asked)
        print_agents(agent_rows(trials))
        say_unbroken("")
        _print_metrics(run, summary_of(scored, declared, by=view.by, metrics=view.metrics), view)
        _print_thinking(run, scored)
        say_unbroken("")
        tampered = codes_by_trial(run)
        flags += tampering_lines(scored, tampered)
        shown = trials if view.full else most_telling(trials, tampered, MAX_ROWS)
        print_trials(shown, tampered)
        _say_left_out(trials, shown)
    _say_missing(run, _missing(run, everything, asked))
    for line in (*_about_trials(run, trials), *flags):
        say(line, hanging=INDENT)
    if trials:
        say_unbroken("")
        say_unbroken("Every step of a trial:")
        telling = next((trial for trial in trials if trial.status != "passed"), trials[0])
        say_unbroken(f"  evalkit show {quoted(run.path)} {quoted(telling.trial_id)}")


def _say_left_out(trials: Sequence[Trial], shown: Sequence[Trial]) -> None:
    more = Counter(trial.status for trial in trials)
    more.subtract(trial.status for trial in shown)
    told = ", ".join(
        f"{more[status]} {status}" for status in ("passed", "failed", "unscored") if more[status]
    )
    if told:
        say(f"... and {told} more (--full shows all trials; --task, --agent, --status some)")


def _print_metrics(run: Run, summary: Summary, view: RunView) -> None:
    if view.metrics:
        print_metrics(run, only(summary, view.metrics, run.path))
    elif view.all_metrics or view.full:
        print_metrics(run, without_parts(summary))
    else:
        print_glance(run, without_parts(summary), more=more(run, view))


def _print_thinking(run: Run, scored: ScoredTrials) -> None:
    """How success grows with thinking, and what is enough where; nothing without several levels."""
    swept = swept_trials(run, scored)
    found = sweeps(swept)
    print_sweeps(found)
    lines = list(routing_lines(routed(swept))) if found else []
    if lines:
        say_unbroken("")
        say("What is enough, the cheapest that cannot be told from the best:")
    for line in lines:
        say(line, indent=INDENT, hanging=INDENT)


def more(run: Run, view: RunView) -> str:
    """The command that shows all metrics of what is shown."""
    options = [view.asked.options] if view.asked.options else []
    grouped = [f"--by {view.by}"] if view.by is not None else []
    return " ".join(["evalkit show", quoted(run.path), *grouped, *options, "--all-metrics"])


def say_asked(asked: TrialFilter, shown: int, of: int) -> None:
    """Say first of all that not every trial is shown and summed up; nothing where all are."""
    if asked.is_all:
        return
    say(f"Only {shown} of {of} trials, here and in all numbers: {asked.options}", hanging=INDENT)
    if asked.statuses and shown:
        say("Chosen by how they ended: rates of these trials say nothing about the agents.")
    say("")


def _scores(run: Run, asked: TrialFilter) -> tuple[ScoredTrials, Declared]:
    scored, declared = run_scores(run)
    return scored if asked.is_all else chosen(scored, asked.holds), declared


def _say_missing(run: Run, lacking: int) -> None:
    """Say what has no row, and on a line of its own what to do about it."""
    if not lacking:
        return
    reason, _, command = why_missing(run.path).partition(": ")
    say(
        f"{lacking} of {len(run.manifest.planned)} planned trials have no row: {reason}{':' if command else ''}"
    )
    if command:
        say_unbroken(f"  {command}")


def _about_trials(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """What the table of trials does not show, and what is wrong with them."""
    if told := sorted({trial.agent for trial in trials if trial.depth == "events"}):
        yield f"depth events: steps are what Inspect's events tell, not our own loop's record, of {', '.join(told)}"
    yield from about_thinking(trials)
    yield from unfired_faults(run, trials)
    yield from _endless_faults(run, trials)
    yield from _why_unscored(trials)


def unfired_faults(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each kind of reason that a planned fault did not fire for; nothing where all did."""
    planned = sum(trial.faults_planned or 0 for trial in trials)
    reasons = _unfired(run, trials)
    if not reasons:
        return
    yield f"warning: {sum(map(len, reasons.values()))} of {planned} faults did not fire:"
    for reason, alike in reasons.items():
        which = alike[0] if len(alike) == 1 else f"{len(alike)} trials, such as {alike[0]}"
        yield f"  {which}: {reason}"


def _endless_faults(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each fault whose end nobody could tell, with the reason of one trial."""
    lasting = {
        (entry["suite"], entry["task"], entry["id"]) for entry in run.manifest.faults if entry.get("until")
    }
    for trial in trials:
        fault = (trial.suite, trial.task_id, trial.variant)
        if fault in lasting and (why := why_endless(run.trial(trial.trial_id)[1])) is not None:
            lasting.remove(fault)
            yield f"warning: until of {trial.variant} could not be asked, such as in {trial.trial_id}: {why}"


def _unfired(run: Run, trials: Sequence[Trial]) -> dict[str, list[str]]:
    """The trials whose fault did not fire, by the reason."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for trial in trials:
        if (trial.faults_planned or 0) > (trial.faults_fired or 0):
            reasons[why_unfired(run.trial(trial.trial_id)[1])].append(trial.trial_id)
    return reasons


def _why_unscored(trials: Sequence[Trial]) -> Iterator[str]:
    """Each reason once, however many trials it has kept from being scored."""
    reasons: defaultdict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.status == "unscored":
            line = (trial.error_message or "unknown reason").splitlines()[0]
            reasons[trial.error_origin or "unknown origin", line].append(trial)
    for (origin, line), alike in reasons.items():
        which = alike[0].trial_id if len(alike) == 1 else f"{len(alike)} trials, such as {alike[0].trial_id}"
        yield f"unscored {which} ({origin}): {line}"


def _missing(run: Run, trials: Sequence[Trial], asked: TrialFilter) -> int:
    """How many planned rows have no trial.

    What a trial without a row would have come to is not known: such are counted whatever status was asked for.
    """
    return missing((row for row in run.manifest.planned if asked.may_hold(row)), trials)


def _trials(run: Run) -> list[Trial]:
    return sorted(run.rows(), key=lambda t: (t.suite, t.task_id, t.variant, t.agent, t.epoch))


def _trial_as_json(trial: Trial, tampered: Codes | None) -> dict[str, object]:
    return {
        "trial": trial.trial_id,
        "suite": trial.suite,
        "task": trial.task_id,
        "variant": trial.variant,
        "agent": trial.agent,
        "epoch": trial.epoch,
        "attempt": trial.attempt,
        "status": trial.status,
        "reward": trial.reward,
        "checks": dict(trial.checks) if trial.checks is not None else None,
        "stop_reason": trial.stop_reason,
        "depth": trial.depth,
        "error_origin": trial.error_origin,
        "error_message": trial.error_message,
        "model_calls": trial.model_calls,
        "tool_calls": trial.tool_calls,
        "faults_planned": trial.faults_planned,
        "faults_fired": trial.faults_fired,
        "output_tokens": trial.output_tokens,
        "reasoning_tokens": trial.reasoning_tokens,
        "agent_s": trial.agent_s,
        "retry_s": trial.retry_s,
        "cost_usd": trial.cost_usd,
        "model_served": trial.model_served,
        "tampering": None
        if tampered is None
        else {"confirmed": list(tampered.confirmed), "suspected": list(tampered.suspected)},
        "thinking": trial.thinking,
        "thinking_taken": trial.thinking_taken,
        "thinking_sent": trial.thinking_sent,
        "thinking_honoured": trial.thinking_honoured,
    }
