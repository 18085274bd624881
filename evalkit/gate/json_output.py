"""How is a verdict told to programs?

One JSON object with these keys; unknown is null, and keys are only ever added.

- `format` ("evalkit-gate"), `version` (1)
- `outcome`: "pass", "inconclusive", "regressed" or "not comparable"; `strict`; `exit_code`; `headline`; `advice`
- `candidate`, `baseline`: `name`, `runs` (of each `run_id` and `created_at`), `suites` (digests by name), `trials`,
  `unscored`, `missing`, `epochs`
- `policy`: the rules as they were given: `source`, `metrics`, `zero_tolerance`, `min_tasks`, `max_unscored`, `suite`,
  `require`, `known_failing`
- `agents`: of each `candidate` and `baseline` (ids), `outcome`, `changes`, `metrics`, `zero_tolerance`, `required`,
  `tasks`, `findings` (all evidence of tampering: `trial_id`, `task`, `code`, `level`, `what`, `steps`, `in_force`,
  `resource`, `source`)
- `problems` (`what`, `hint`): why nothing can be compared; `warnings`

Differences are candidate - baseline in the metric's `unit`; under a `max_ratio` rule they are relative changes.
"""

from __future__ import annotations

import json
import math
from typing import Any

from evalkit.gate.policy import GatePolicy, MetricRule, ZeroRule
from evalkit.gate.verdict import (
    AgentVerdict,
    MetricVerdict,
    RequiredVerdict,
    SideFacts,
    TaskOutcome,
    TrialFinding,
    Verdict,
    ZeroVerdict,
)
from evalkit.trajectory.clean import valid_text

FORMAT = "evalkit-gate"
VERSION = 1


def as_json(verdict: Verdict, *, strict: bool) -> str:
    """The verdict as text: the same bytes for the same verdict, only ASCII in them."""
    told = _valid(_verdict(verdict, strict=strict))
    return json.dumps(told, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _verdict(verdict: Verdict, *, strict: bool) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "outcome": verdict.outcome,
        "strict": strict,
        "exit_code": verdict.exit_code(strict=strict),
        "headline": verdict.headline,
        "advice": verdict.advice,
        "candidate": _side(verdict.candidate),
        "baseline": _side(verdict.baseline),
        "policy": _policy(verdict.policy),
        "agents": [_agent(own) for own in verdict.agents],
        "problems": [{"what": problem.what, "hint": problem.hint} for problem in verdict.problems],
        "warnings": list(verdict.warnings),
    }


def _side(side: SideFacts) -> dict[str, Any]:
    return {
        "name": side.name,
        "runs": [
            {"run_id": run, "created_at": at} for run, at in zip(side.runs, side.created_at, strict=True)
        ],
        "suites": dict(sorted(side.suites.items())),
        "trials": side.trials,
        "unscored": side.unscored,
        "missing": side.missing,
        "epochs": side.epochs,
    }


def _policy(policy: GatePolicy) -> dict[str, Any]:
    return {
        "source": policy.source,
        "metrics": [_rule(rule) for rule in policy.metrics],
        "zero_tolerance": [_zero_rule(rule) for rule in policy.zero_tolerance],
        "min_tasks": policy.min_tasks,
        "max_unscored": policy.max_unscored,
        "suite": policy.suite,
        "require": [{"task": rule.task, "pass": f"{rule.passed}/{rule.of}"} for rule in policy.require],
        "known_failing": list(policy.known_failing),
    }


def _rule(rule: MetricRule) -> dict[str, Any]:
    return {"metric": rule.name, "arm": rule.arm, "limit": f"max_{rule.kind}", "margin": rule.margin}


def _zero_rule(rule: ZeroRule) -> dict[str, Any]:
    return {"metric": rule.name, "above": rule.above, "max": rule.most}


def _agent(own: AgentVerdict) -> dict[str, Any]:
    return {
        "candidate": own.candidate,
        "baseline": own.baseline,
        "outcome": own.outcome,
        "changes": [
            {"setting": change.setting, "baseline": change.a, "candidate": change.b} for change in own.changes
        ],
        "metrics": [_metric(metric) for metric in own.metrics],
        "zero_tolerance": [_zero(zero) for zero in own.zero],
        "required": [_required(one) for one in own.required],
        "tasks": [_task(task) for task in own.tasks],
        "findings": [_finding(one) for one in own.findings],
    }


def _finding(own: TrialFinding) -> dict[str, Any]:
    finding = own.finding
    return {
        "trial_id": own.trial_id,
        "task": own.task,
        "code": finding.code,
        "level": finding.level,
        "what": finding.what,
        "steps": list(finding.steps),
        "in_force": finding.in_force,
        "resource": finding.resource,
        "source": finding.source,
    }


def _metric(own: MetricVerdict) -> dict[str, Any]:
    return {
        **_rule(own.rule),
        "outcome": own.outcome,
        "reason": own.reason,
        "n_tasks": own.n,
        "unit": own.unit,
        "baseline": own.baseline,
        "candidate": own.candidate,
        "difference": own.difference,
        "low": own.low,
        "high": own.high,
        "p": own.p,
        "p_holm": own.p_holm,
        "tolerable": own.tolerable,
        "detectable": own.detectable,
        "tasks_needed": own.needed,
        "worst_case": own.worst_case,
    }


def _zero(own: ZeroVerdict) -> dict[str, Any]:
    return {
        **_zero_rule(own.rule),
        "outcome": own.outcome,
        "reason": own.reason,
        "n_tasks": own.n,
        "upper": own.upper,
        "events": [
            {
                "trial_id": event.trial_id,
                "task": event.task,
                "value": event.value,
                "steps": list(event.steps),
                "reason": event.reason,
                "codes": list(event.codes),
            }
            for event in own.events
        ],
    }


def _required(own: RequiredVerdict) -> dict[str, Any]:
    return {
        "task": own.task,
        "pass": own.asked,
        "outcome": own.outcome,
        "passed": own.passed,
        "scored": own.scored,
    }


def _task(own: TaskOutcome) -> dict[str, Any]:
    return {
        "suite": own.suite,
        "task": own.task_id,
        "variant": own.variant,
        "known_failing": own.known_failing,
        "baseline": {
            "passed": own.baseline_passed,
            "scored": own.baseline_scored,
            "unscored": own.baseline_unscored,
        },
        "candidate": {
            "passed": own.candidate_passed,
            "scored": own.candidate_scored,
            "unscored": own.candidate_unscored,
        },
    }


def _valid(value: Any) -> Any:
    """The same with valid Unicode, and null for what is no finite number."""
    match value:
        case str():
            return valid_text(value)[0]
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {valid_text(key)[0]: _valid(own) for key, own in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list():
            return [_valid(own) for own in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
