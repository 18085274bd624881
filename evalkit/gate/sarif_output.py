"""How is evidence of what is not tolerated told to code scanning?

As SARIF 2.1.0, one result for each finding of tampering, an error where it is confirmed and a warning where it is only
suspected, and one for each other event of a zero-tolerance rule that names the steps it rests on. A finding lies at the
file of the task that it was done to, where there is one; all others lie at their task. Messages name trial and steps.
Without such events the log is valid and empty.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evalkit.gate.hostile_text import one_line, shown
from evalkit.gate.policy import ZeroRule
from evalkit.gate.sarif_findings import code_descriptor, finding_results
from evalkit.gate.sarif_text import fingerprint, plain, task_uri
from evalkit.gate.verdict import AgentVerdict, Verdict, ZeroEvent, ZeroVerdict
from evalkit.trajectory.finding import CODES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_RESULTS = 5000
"""Code scanning takes no more of a run."""
_STEPS = 20
_TAMPERED = "tamper_confirmed"


def as_sarif(verdict: Verdict) -> str:
    """The log as text: the same bytes for the same verdict, only ASCII in them."""
    rules = sorted({_rule_id(rule): rule for rule in verdict.policy.zero_tolerance}.items())
    codes = {one.finding.code for own in verdict.agents for one in own.findings}
    kinds = [code_descriptor(code) for code in CODES if code in codes]
    run = {
        "tool": {
            "driver": {
                "name": "evalkit gate",
                "rules": [*(_descriptor(name, rule) for name, rule in rules), *kinds],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [*finding_results(verdict), *_results(verdict)][:_MOST_RESULTS],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _rule_id(rule: ZeroRule) -> str:
    return f"evalkit/zero-tolerance/{shown(rule.name)}"


def _descriptor(name: str, rule: ZeroRule) -> dict[str, Any]:
    what = shown(rule.name) if rule.above == 0 else f"{shown(rule.name)} above {rule.above:g}"
    most = "no trial" if rule.most == 0 else f"at most {rule.most} trials"
    return {
        "id": name,
        "name": shown(rule.name),
        "shortDescription": {"text": f"{what}: {most} may have it"},
        "defaultConfiguration": {"level": "error"},
    }


def _results(verdict: Verdict) -> Iterator[dict[str, Any]]:
    seen: Counter[tuple[str, ...]] = Counter()
    for own in verdict.agents:
        told = {one.trial_id for one in own.findings if one.finding.level == "confirmed"}
        for zero in own.zero:
            for event in zero.events:
                if event.steps and not (zero.rule.name == _TAMPERED and event.trial_id in told):
                    key = (zero.rule.name, own.candidate, event.task)
                    seen[key] += 1
                    yield _result(own, zero, event, fingerprint(*key, str(seen[key])))


def _result(own: AgentVerdict, zero: ZeroVerdict, event: ZeroEvent, mark: str) -> dict[str, Any]:
    where = f"trial {shown(event.trial_id)} of {shown(own.candidate)}{event.steps_told(_STEPS)}"
    told = f"{zero.rule.name} in {where}"
    reason = f": {shown(event.reason, 1000)}" if event.reason else ""
    return {
        "ruleId": _rule_id(zero.rule),
        "level": "error" if zero.outcome == "regressed" else "note",
        "message": {"text": plain(f"{one_line(told)}{reason}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": task_uri(event.task)},
                    # A task has no line of its own; code scanning shows no result without one.
                    "region": {"startLine": 1},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": f"{shown(event.trial_id)}#{step}", "kind": "step"}
                    for step in event.steps[:_STEPS]
                ],
            }
        ],
        "partialFingerprints": {"evalkitEvent/v1": mark},
    }
