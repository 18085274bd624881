"""Which verdict do a candidate, a baseline and a gate policy lead to?"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.errors import NotComparable
from evalkit.gate.completeness import (
    changed_tasks,
    ids_only,
    problems_of_scores,
    problems_of_side,
    suite_problems,
    unknown_graders,
    unreadable_problems,
    weight_problems,
)
from evalkit.gate.gated import Declared, Gated, gated
from evalkit.gate.headline import with_words
from evalkit.gate.hostile_text import one_line
from evalkit.gate.metric_verdict import Measured, decide, inform, measure
from evalkit.gate.nulls import nulls
from evalkit.gate.pairs import Share, places_of
from evalkit.gate.policy import GatePolicy
from evalkit.gate.side import PlannedKey, Side, planned_key
from evalkit.gate.task_outcomes import named_units, required, task_outcomes
from evalkit.gate.values import problems_of_values
from evalkit.gate.verdict import (
    AgentVerdict,
    MetricVerdict,
    Outcome,
    Problem,
    SideFacts,
    TrialFinding,
    Verdict,
    ZeroVerdict,
    worst,
)
from evalkit.gate.zero_tolerance import FindEvidence, find_scorer, is_measured, zero_verdict
from evalkit.scoring.agent_match import AgentMatch, match_agents
from evalkit.scoring.agent_settings import changes
from evalkit.scoring.arm import arm_of
from evalkit.scoring.scored_trials import Unit
from evalkit.scoring.unreadable import Unreadable, readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is to be judged."""

    candidate: Side
    baseline: Side
    policy: GatePolicy
    declared: Declared
    """Metrics by scorer, of all scorers that are found here."""
    find_evidence: FindEvidence
    findings: tuple[TrialFinding, ...] = ()
    """All evidence of tampering that the candidate holds."""
    mapped: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which agent of the candidate is which of the baseline, where their ids differ."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two agents, and the units at which they are compared."""

    candidate: str
    baseline: str
    units: frozenset[Unit]
    known_failing: frozenset[Unit]
    lacking: tuple[str, ...]
    """Which units only one of them tried, in words."""


def judge(case: Case) -> Verdict:
    """Judge. Raises ConfigError for a policy line that no scorer or task fits."""
    candidate, lost_a = _readable(case.candidate, case.declared)
    baseline, lost_b = _readable(case.baseline, case.declared)
    case = dataclasses.replace(case, candidate=candidate, baseline=baseline)
    rules = [gated(rule, case.declared, (candidate, baseline)) for rule in case.policy.metrics]
    scorers, unmeasured = _zero_scorers(case)
    problems = [
        *problems_of_side(candidate, "candidate", case.policy),
        *problems_of_side(baseline, "baseline", case.policy),
        *unreadable_problems("candidate", rules, lost_a),
        *unreadable_problems("baseline", rules, lost_b),
    ]
    warnings = [*unmeasured]
    agents: tuple[AgentVerdict, ...] = ()
    if case.candidate.scored.trials and case.baseline.scored.trials:
        for rule in rules:
            problems += problems_of_scores(rule, case.candidate, case.baseline)
        pairs = _pairs(case, problems, warnings)
        problems += [problem for pair in pairs for rule in rules for problem in _of_values(case, pair, rule)]
        agents = _agent_verdicts(case, pairs, rules, scorers)
    outcomes: list[Outcome] = [*_outcomes(agents), *(["not comparable"] if problems else [])]
    if outcomes and set(outcomes) == {"information"}:
        outcomes.append("inconclusive")  # nothing was left that could decide
    return with_words(
        Verdict(
            outcome=worst(outcomes),
            headline="",
            advice="",
            candidate=_facts(case.candidate),
            baseline=_facts(case.baseline),
            policy=case.policy,
            agents=agents,
            problems=_told(problems),
            warnings=tuple(map(one_line, warnings)),
        ),
        nulls(rules, scorers, case.declared, (candidate, baseline)),
    )


def _told(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Once each, on a line of its own: names may hold anything."""
    return tuple(dict.fromkeys(Problem(what=one_line(own.what), hint=one_line(own.hint)) for own in problems))


def _readable(side: Side, declared: Declared) -> tuple[Side, tuple[Unreadable, ...]]:
    """A side without the metrics that cannot be read, and which these are."""
    scored, lost = readable(side.scored, declared)
    return dataclasses.replace(side, scored=scored), lost


def _pairs(case: Case, problems: list[Problem], warnings: list[str]) -> list[_Pair]:
    match = _matched(case, problems)
    changed = changed_tasks(case.candidate, case.baseline)
    strict = case.policy.suite == "same"
    if strict:
        problems += suite_problems(case.candidate, case.baseline)
        problems += [
            Problem(
                what=f"the {what} of {task} has changed: its digest differs",
                hint="Accept a new baseline that was run with it.",
            )
            for task, what in {"/".join(unit[:2]): what for unit, what in changed.items()}.items()
        ]
    elif changed:
        warnings.append(f"left out, as their content or grader has changed: {_some(changed)}")
    if ids_only(case.candidate) or ids_only(case.baseline):
        warnings.append("tasks without a digest, as imported ones, are the same by their ids only")
    if unknown_graders(case.candidate) or unknown_graders(case.baseline):
        warnings.append("nothing says which grader judged some trials, so that it may have changed")
    problems += weight_problems(case.candidate, case.baseline)
    if others := {key: weight for key, weight in case.candidate.weights.items() if weight != 1}:
        warnings.append(f"tasks count by the suite's weights, {len(others)} of them not 1")
    pairs = [_pair(case, a, b, set(changed)) for a, b in match.pairs]
    problems += [
        Problem(
            what=f"{pair.candidate} and {pair.baseline} of the baseline have no task in common that can be compared",
            hint="Run the suite that the baseline was run on, or accept a new baseline.",
        )
        for pair in pairs
        if not pair.units
    ]
    lacking = [told for pair in pairs for told in pair.lacking]
    if strict:
        hint = 'Run the same tasks, or compare those that both have: [validity] suite = "shared-tasks".'
        problems += [Problem(what=told, hint=hint) for told in lacking]
    else:
        warnings += [f"left out: {told}" for told in lacking]
    return pairs


def _matched(case: Case, problems: list[Problem]) -> AgentMatch:
    try:
        match = match_agents(case.candidate.agents, case.baseline.agents, mapped=case.mapped)
    except NotComparable as error:
        told = error.message.replace("A has", "the candidate has").replace("B has", "the baseline has")
        problems.append(Problem(what=told, hint="Say which belong together: --map CANDIDATE_ID=BASELINE_ID"))
        return AgentMatch(())
    for role, other, agents in (
        ("candidate", "baseline", match.only_a),
        ("baseline", "candidate", match.only_b),
    ):
        problems += [
            Problem(
                what=f"the agent {agent} of the {role} is not in the {other}",
                hint="Say which belong together, --map CANDIDATE_ID=BASELINE_ID, or run the same agents.",
            )
            for agent in agents
        ]
    return match


def _pair(case: Case, ours: str, theirs: str, changed: set[Unit]) -> _Pair:
    """The units that both tried, in the arms that are gated."""
    arms = {"clean", *(rule.arm for rule in case.policy.metrics)}
    units_a, units_b = (
        {unit for unit in _units(side, agent) if arm_of(unit[2]) in arms}
        for side, agent in ((case.candidate, ours), (case.baseline, theirs))
    )
    lacking = tuple(
        f"{agent} of the {role} did not try {_some(units)}"
        for role, agent, units in (
            ("candidate", ours, units_b - units_a),
            ("baseline", theirs, units_a - units_b),
        )
        if units
    )
    both = (units_a & units_b) - changed
    failing = {
        unit
        for name in case.policy.known_failing
        for unit in named_units(name, units_a | units_b, case.policy.source)
    }
    return _Pair(ours, theirs, frozenset(both), frozenset(failing), lacking)


def _units(side: Side, agent: str) -> set[Unit]:
    return {trial.unit for trial in side.scored.trials if trial.agent == agent}


def _agent_verdicts(
    case: Case, pairs: Sequence[_Pair], rules: Sequence[Gated], scorers: Mapping[str, str | None]
) -> tuple[AgentVerdict, ...]:
    found = [[_measured(case, pair, rule) for rule in rules] for pair in pairs]
    # As how sure each is depends on how many there are, all of all agents are decided together.
    decided = iter(decide([one for own in found for one in own if isinstance(one, Measured)]))
    metrics = [tuple(next(decided) if isinstance(one, Measured) else one for one in own) for own in found]
    return tuple(_agent(case, pair, own, scorers) for pair, own in zip(pairs, metrics, strict=True))


def _shares(case: Case, pair: _Pair, rule: Gated) -> tuple[Share, Share]:
    """The trials of both agents that a rule is about."""
    units = [unit for unit in pair.units - pair.known_failing if arm_of(unit[2]) == rule.rule.arm]
    return (
        Share(case.candidate, places_of(case.candidate, pair.candidate, units)),
        Share(case.baseline, places_of(case.baseline, pair.baseline, units)),
    )


def _of_values(case: Case, pair: _Pair, rule: Gated) -> Iterator[Problem]:
    for share, role in zip(_shares(case, pair, rule), ("candidate", "baseline"), strict=True):
        yield from problems_of_values(rule, share, role, case.policy, case.declared)


def _measured(case: Case, pair: _Pair, rule: Gated) -> Measured | MetricVerdict:
    candidate, baseline = _shares(case, pair, rule)
    found = measure(rule, candidate, baseline, min_tasks=case.policy.min_tasks)
    models = (case.candidate.settings_of(pair.candidate), case.baseline.settings_of(pair.baseline))
    named = [own.get("model", "-") for own in models]
    is_other = named[0] != named[1] and "-" not in named
    if is_other and isinstance(found, Measured) and _counts_tokens(case, rule):
        return inform(found)
    return found


def _counts_tokens(case: Case, rule: Gated) -> bool:
    """Whether a metric is of tokens, be it against a reference that counts them, or maybe does."""
    basis = case.candidate.reference_basis or case.baseline.reference_basis
    against_tokens = basis not in {"cost_usd", "agent_s"}
    return rule.metric.unit == "tokens" or (rule.metric.uses_reference and against_tokens)


def _agent(
    case: Case, pair: _Pair, metrics: tuple[MetricVerdict, ...], scorers: Mapping[str, str | None]
) -> AgentVerdict:
    sides = (case.candidate, pair.candidate), (case.baseline, pair.baseline)
    tasks = task_outcomes(*sides, pair.units, pair.known_failing)
    own = task_outcomes(*sides, _units(*sides[0]), pair.known_failing)
    settings = case.baseline.settings_of(pair.baseline), case.candidate.settings_of(pair.candidate)
    return AgentVerdict(
        candidate=pair.candidate,
        baseline=pair.baseline,
        changes=changes(*settings) if all(settings) else (),
        tasks=tasks,
        metrics=metrics,
        zero=tuple(_zero(case, pair, scorers)),
        required=tuple(required(own, case.policy)),
        findings=tuple(one for one in case.findings if one.agent == pair.candidate),
    )


def _zero_scorers(case: Case) -> tuple[Mapping[str, str | None], list[str]]:
    """The scorer of each rule of zero tolerance, and why one that holds only if it is measured has none."""
    found: dict[str, str | None] = {}
    told: list[str] = []
    for rule in case.policy.zero_tolerance:
        scorer = find_scorer(rule, case.declared)
        if scorer is None:
            told.append(f"{rule.name} is not measured: no scorer that is found here gives it")
        elif rule.if_measured and not is_measured(rule, scorer, case.candidate):
            told.append(f"{rule.name} is not measured: it is not known of any trial of the candidate")
            scorer = None
        found[rule.name] = scorer
    return found, told


def _zero(case: Case, pair: _Pair, scorers: Mapping[str, str | None]) -> Iterator[ZeroVerdict]:
    for rule in case.policy.zero_tolerance:
        if (scorer := scorers[rule.name]) is not None:
            yield zero_verdict(rule, scorer, case.candidate, pair.candidate, case.find_evidence)


def _outcomes(agents: Sequence[AgentVerdict]) -> list[Outcome]:
    return [
        part.outcome for own in agents for parts in (own.metrics, own.zero, own.required) for part in parts
    ]


def _facts(side: Side) -> SideFacts:
    trials = side.scored.trials
    there: list[set[PlannedKey]] = [set() for _ in side.runs]
    for trial, run in zip(trials, side.run_of, strict=True):
        there[int(run)].add(planned_key(trial))
    return SideFacts(
        name=side.name,
        runs=tuple(run.run_id for run in side.runs),
        created_at=tuple(run.created_at for run in side.runs),
        suites={trial.suite: trial.suite_digest for trial in trials},
        trials=len(trials),
        unscored=int(side.scored.unscored.sum()),
        missing=sum(
            len((run.planned or frozenset()) - own) for run, own in zip(side.runs, there, strict=True)
        ),
        epochs=max(Counter((trial.unit, trial.agent) for trial in trials).values(), default=0),
    )


def _some(units: Collection[Unit]) -> str:
    names = sorted("/".join(unit[:2]) + ("" if unit[2] == "clean" else f" [{unit[2]}]") for unit in units)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
