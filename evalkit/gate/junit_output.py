"""How is a verdict told to what reads JUnit's XML?

A suite for the comparison as a whole, and one for each agent. The gate's own cases have the class name `gate`: the
comparison, each gated metric, each rule of zero tolerance, each required task. Those decide. A task's cases have the
class name of its suite, and tell how the candidate did at it: an agent may fail tasks, and pass the gate.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalkit.gate.figures import amount_text, change_text, limit_text, p_text
from evalkit.gate.hostile_text import clipped, one_line, shown
from evalkit.gate.verdict import AgentVerdict, MetricVerdict, Outcome, TaskOutcome, Verdict, ZeroVerdict

_LONGEST = 1000
_LONGEST_TEXT = 10_000
_EVENTS = 20
Result = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    classname: str
    name: str
    result: Result | None = None
    """None: it passed."""
    kind: str = ""
    message: str = ""
    details: str = ""


def as_junit(verdict: Verdict, *, strict: bool) -> str:
    """The verdict as text in ASCII: the same bytes for the same verdict."""
    root = ET.Element("testsuites", {"name": "evalkit gate"})
    suites = [_suite("evalkit gate", [_comparison(verdict)], _about(verdict, strict=strict))]
    for own in verdict.agents:
        cases = [*_gate_cases(own, strict=strict), *(_task_case(task) for task in own.tasks)]
        suites.append(_suite(own.candidate, cases, _about_agent(own)))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.extend(suites)
    ET.indent(root)
    body = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _about(verdict: Verdict, *, strict: bool) -> dict[str, str]:
    return {
        "outcome": verdict.outcome,
        "exit_code": str(verdict.exit_code(strict=strict)),
        "headline": verdict.headline,
        "advice": verdict.advice,
        "candidate": verdict.candidate.name,
        "baseline": verdict.baseline.name,
        "policy": verdict.policy.source or "none given",
    }


def _about_agent(own: AgentVerdict) -> dict[str, str]:
    changes = {f"changed {change.setting}": f"{change.a} -> {change.b}" for change in own.changes}
    return {"outcome": own.outcome, "baseline": own.baseline} | changes


def _comparison(verdict: Verdict) -> _Case:
    details = [f"{problem.what}\n  {problem.hint}" for problem in verdict.problems]
    details += [f"warning: {warning}" for warning in verdict.warnings]
    return _Case(
        classname="gate",
        name="the two runs can be compared",
        result="error" if verdict.problems else None,
        kind="not comparable",
        message="; ".join(problem.what for problem in verdict.problems[:3]),
        details="\n".join(details),
    )


def _gate_cases(own: AgentVerdict, *, strict: bool) -> Iterator[_Case]:
    for metric in own.metrics:
        yield _decided(metric.rule.key, metric.outcome, metric.reason, _figures(metric), strict=strict)
    for zero in own.zero:
        yield _decided(
            f"zero tolerance: {zero.rule.name}", zero.outcome, zero.reason, _events(zero), strict=strict
        )
    for one in own.required:
        yield _decided(f"required: {one.task}", one.outcome, one.reason, "", strict=strict)


def _decided(name: str, outcome: Outcome, message: str, details: str, *, strict: bool) -> _Case:
    results: dict[Outcome, Result | None] = {
        "information": None,
        "pass": None,
        "regressed": "failure",
        "not comparable": "error",
        "inconclusive": "failure" if strict else "skipped",
    }
    details = f"{message}\n{details}".strip()
    return _Case(
        classname="gate",
        name=name,
        result=results[outcome],
        kind=outcome,
        message=message,
        details=details,
    )


def _figures(own: MetricVerdict) -> str:
    lines = [f"{limit_text(own)}, {own.n} tasks"]
    if own.difference is not None:
        lines.append(f"baseline {amount_text(own, own.baseline)}")
        lines.append(f"candidate {amount_text(own, own.candidate)}")
        lines.append(f"difference {change_text(own, own.difference)}")
    if own.low is not None:
        lines.append(f"90 % interval {change_text(own, own.low)} to {change_text(own, own.high)}")
    if own.p is not None and own.p_holm is not None:
        lines.append(f"p {p_text(own.p)}, Holm {p_text(own.p_holm)}")
    if own.needed is not None:
        lines.append(f"about {own.needed:,} tasks would decide")
    return "\n".join(lines)


def _events(own: ZeroVerdict) -> str:
    lines = [
        f"{event.trial_id} ({event.task})"
        + event.steps_told(_EVENTS)
        + (f": {event.reason}" if event.reason else "")
        for event in own.events[:_EVENTS]
    ]
    more = len(own.events) - _EVENTS
    return "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])])


def _task_case(own: TaskOutcome) -> _Case:
    name = own.task_id if own.variant == "clean" else f"{own.task_id} [{own.variant}]"
    before = (
        f"{own.baseline_passed} of {own.baseline_scored}" if own.baseline_scored else "nothing of it scored"
    )
    now = f"passed {own.candidate_passed} of {own.candidate_scored} (baseline {before})"
    result: Result | None = None
    if own.known_failing:
        result, kind, message = "skipped", "known to fail", f"known to fail; {now}"
    elif not own.candidate_scored:
        result, kind = "error", "unscored"
        message = f"nothing of it is scored, {own.candidate_unscored} unscored (baseline {before})"
    else:
        kind, message = "failed", now
        result = "failure" if 2 * own.candidate_passed < own.candidate_scored else None
    return _Case(classname=own.suite, name=name, result=result, kind=kind, message=message)


def _suite(name: str, cases: list[_Case], about: dict[str, str]) -> ET.Element:
    results = [case.result for case in cases]
    suite = ET.Element(
        "testsuite",
        {
            "name": shown(name, _LONGEST),
            "tests": str(len(cases)),
            "failures": str(results.count("failure")),
            "errors": str(results.count("error")),
            "skipped": str(results.count("skipped")),
        },
    )
    properties = ET.SubElement(suite, "properties")
    for key, value in about.items():
        ET.SubElement(properties, "property", {"name": shown(key, _LONGEST), "value": shown(value, _LONGEST)})
    suite.extend([_element(case) for case in cases])
    return suite


def _element(case: _Case) -> ET.Element:
    element = ET.Element(
        "testcase", {"classname": shown(case.classname, _LONGEST), "name": shown(case.name, _LONGEST)}
    )
    details = clipped("\n".join(map(one_line, case.details.split("\n"))), _LONGEST_TEXT)
    if case.result is not None:
        told = ET.SubElement(
            element, case.result, {"type": case.kind, "message": shown(case.message, _LONGEST)}
        )
        told.text = details or None
    elif details:
        ET.SubElement(element, "system-out").text = details
    return element
