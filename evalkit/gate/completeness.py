"""Is all there that a comparison needs, once each, and is it of the same tasks?

What is missing, double, unscored or of another version makes a comparison impossible, rather than lucky.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from evalkit.gate.gated import Gated
from evalkit.gate.policy import GatePolicy
from evalkit.gate.side import PlannedKey, Side, planned_key
from evalkit.gate.verdict import Problem
from evalkit.scoring.arm import arm_of
from evalkit.scoring.scored_trials import Unit
from evalkit.scoring.unreadable import Unreadable

_SHOWN = 3


def problems_of_side(side: Side, role: str, policy: GatePolicy) -> Iterator[Problem]:
    """What is wrong with one side alone: nothing in it, trials that are missing or double, too many unscored."""
    if not side.scored.trials:
        yield Problem(what=f"the {role}, {side.name}, has no trials", hint=_again(role))
        return
    for place, run in enumerate(side.runs):
        keys = Counter(
            planned_key(trial)
            for trial, own in zip(side.scored.trials, side.run_of, strict=True)
            if own == place
        )
        double = sorted(key for key, count in keys.items() if count > 1)
        if double:
            yield Problem(
                what=f"{_count(len(double), 'trial')} of the {role} {_is(double)} there twice: {_named(double)}",
                hint="Take what is too much out of the run; nothing is counted twice.",
            )
        unplanned = sorted(set(keys) - run.planned) if run.planned is not None else []
        if unplanned:
            yield Problem(
                what=f"{_count(len(unplanned), 'trial')} of the {role} {_is(unplanned)} not part of its plan: "
                f"{_named(unplanned)}",
                hint="Take what is too much out of the run, or run it anew.",
            )
        missing = sorted((run.planned or frozenset()) - set(keys))
        if missing:
            asked = _count(len(run.planned or ()), "planned trial")
            yield Problem(
                what=f"{len(missing)} of {asked} of the {role} {_is(missing)} not there: {_named(missing)}",
                hint=f"Finish it first: evalkit resume {side.name}" if role == "candidate" else _again(role),
            )
    yield from _too_much_unscored(side, role, policy)


def problems_of_scores(own: Gated, candidate: Side, baseline: Side) -> Iterator[Problem]:
    """Where both sides' scores of a metric do not mean the same: another version, other reference costs."""
    if own.scorer is None:
        return
    for what, told in (
        ("versions", "another version of the scorer"),
        ("references", "other reference costs"),
    ):
        if not (_has(candidate, own) and _has(baseline, own)):
            continue
        ours, theirs = (_of(side, own, what) for side in (candidate, baseline))
        if ours != theirs:
            words = (
                f" ({', '.join(sorted(theirs))}, now {', '.join(sorted(ours))})" if what == "versions" else ""
            )
            yield Problem(
                what=f"{own.rule.key} of the two sides rests on {told}{words}",
                hint=_scored_alike(own, what),
            )


def _scored_alike(own: Gated, what: str) -> str:
    """How both sides' scores come to mean the same."""
    if what == "versions":
        return f"Compute both again, `evalkit score RUN --scorer {own.scorer}`, and accept the baseline anew."
    return (
        "Measure both against one frozen reference: `evalkit reference build RUN --out FILE`, then "
        f"`evalkit score RUN --scorer {own.scorer} --reference FILE` for each, and accept the baseline anew."
    )


def changed_tasks(candidate: Side, baseline: Side) -> dict[Unit, str]:
    """The tasks that both sides tried, but whose content or grader differs, and which of the two."""
    tasks_a, graders_a = _digests(candidate)
    tasks_b, graders_b = _digests(baseline)
    changed: dict[Unit, str] = {}
    for unit in sorted(set(tasks_a) & set(tasks_b)):
        for what, ours, theirs in (("task", tasks_a, tasks_b), ("grader", graders_a, graders_b)):
            known = ours[unit] | theirs[unit]
            if ours[unit] and theirs[unit] and None not in known and ours[unit] != theirs[unit]:
                changed[unit] = what
                break
    return changed


def ids_only(side: Side) -> bool:
    """Whether tasks have no digest, as in imported runs, so that only their ids say that they are the same."""
    return any(trial.task_digest is None for trial in side.scored.trials)


def unknown_graders(side: Side) -> bool:
    """Whether nothing says which grader judged a scored trial."""
    pairs = zip(side.scored.trials, side.graders, strict=True)
    return any(grader is None and trial.status != "unscored" for trial, grader in pairs)


def suite_problems(candidate: Side, baseline: Side) -> Iterator[Problem]:
    """Suites that are not the same on both sides, for the policy `suite = "same"`."""
    ours, theirs = _suites(candidate), _suites(baseline)
    hint = (
        'Accept a new baseline, or compare only the tasks that both have: [validity] suite = "shared-tasks".'
    )
    for suite in sorted(set(ours) | set(theirs)):
        if suite not in ours or suite not in theirs:
            lacking = "candidate" if suite not in ours else "baseline"
            yield Problem(what=f"the {lacking} has no trials of the suite {suite}", hint=hint)
        elif None not in ours[suite] | theirs[suite] and ours[suite] != theirs[suite]:
            yield Problem(what=f"the suite {suite} has changed: its digest differs", hint=hint)


def _too_much_unscored(side: Side, role: str, policy: GatePolicy) -> Iterator[Problem]:
    arms = {"clean", *(rule.arm for rule in policy.metrics)}
    by_arm: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for trial in side.scored.trials:
        if (arm := arm_of(trial.variant)) in arms:
            by_arm[trial.agent, arm].append(trial.status == "unscored")
    for (agent, arm), unscored in sorted(by_arm.items()):
        share = sum(unscored) / len(unscored)
        if share > policy.max_unscored:
            yield Problem(
                what=f"{sum(unscored)} of {_count(len(unscored), 'trial')} of {agent} in the {role} are unscored"
                f"{'' if arm == 'clean' else f', {arm}'} "
                f"({100 * share:.3g} %), and {100 * policy.max_unscored:.3g} % are allowed",
                hint=f"`evalkit show {side.name}` says why; `evalkit resume {side.name}` tries those again that can be."
                if role == "candidate"
                else _again(role),
            )


def _digests(side: Side) -> tuple[dict[Unit, set[str | None]], dict[Unit, set[str | None]]]:
    tasks: defaultdict[Unit, set[str | None]] = defaultdict(set)
    graders: defaultdict[Unit, set[str | None]] = defaultdict(set)
    for trial, grader in zip(side.scored.trials, side.graders, strict=True):
        tasks[trial.unit].add(trial.task_digest)
        if trial.status != "unscored":  # a trial that was never graded has no grader
            graders[trial.unit].add(grader)
    return tasks, defaultdict(set, graders)


def _suites(side: Side) -> dict[str, set[str | None]]:
    found: defaultdict[str, set[str | None]] = defaultdict(set)
    for trial in side.scored.trials:
        found[trial.suite].add(trial.suite_digest)
    return found


def weight_problems(candidate: Side, baseline: Side) -> Iterator[Problem]:
    """Tasks that count differently on the two sides: a candidate cannot say itself what counts."""
    tasks = {trial.unit[:2] for trial in candidate.scored.trials} & {
        trial.unit[:2] for trial in baseline.scored.trials
    }
    other = sorted(
        task for task in tasks if candidate.weights.get(task, 1.0) != baseline.weights.get(task, 1.0)
    )
    if other:
        yield Problem(
            what=f"{_count(len(other), 'task')} {'has' if len(other) == 1 else 'have'} another weight than in the "
            f"baseline, such as {'/'.join(other[0])}",
            hint="Run the suite with the weights of before, or accept a new baseline.",
        )


def unreadable_problems(role: str, rules: Sequence[Gated], found: Sequence[Unreadable]) -> Iterator[Problem]:
    """Gated metrics of a side whose stored scores are none that they can have."""
    gated = {(rule.scorer, name): rule for rule in rules for name in rule.sources}
    for one in found:
        if (one.scorer, one.metric) in gated:
            yield Problem(
                what=f"{one.scores} of {_count(one.known, 'score')} of {one.metric} in the {role} cannot be read: "
                f"{one.problem}",
                hint="Compute them again: evalkit score RUN" if role == "candidate" else _again(role),
            )


def _has(side: Side, own: Gated) -> bool:
    return all((own.scorer or "", name) in side.scored.columns for name in own.sources)


def _of(side: Side, own: Gated, what: str) -> set[str]:
    found: set[str] = set()
    for name in own.sources:
        if (column := side.scored.columns.get((own.scorer or "", name))) is not None:
            found |= getattr(column, what)
    return found


def _again(role: str) -> str:
    if role == "baseline":
        return "Accept a run that is whole: evalkit baseline accept RUN"
    return "Run the suite first: evalkit run SUITE"


def _named(keys: Sequence[PlannedKey]) -> str:
    told = [
        f"{suite}/{task}{'' if variant == 'clean' else f' [{variant}]'}, epoch {epoch}, {agent}"
        for suite, task, variant, epoch, agent in keys[:_SHOWN]
    ]
    return "; ".join(told) + (f"; and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"


def _is(keys: Sequence[object]) -> str:
    return "is" if len(keys) == 1 else "are"
