"""How is evidence of what is not tolerated told to code scanning?

As SARIF 2.1.0, one result for each event of a zero-tolerance rule that names the steps it rests on. A result lies at
its task, and its message names trial and steps. Without such events the log is valid and empty.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from evalkit.gate.hostile_text import one_line, shown
from evalkit.gate.policy import ZeroRule
from evalkit.gate.verdict import AgentVerdict, Verdict, ZeroEvent, ZeroVerdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_RESULTS = 5000
"""Code scanning takes no more of a run."""
_STEPS = 20


def as_sarif(verdict: Verdict) -> str:
    """The log as text: the same bytes for the same verdict, only ASCII in them."""
    rules = sorted({_rule_id(rule): rule for rule in verdict.policy.zero_tolerance}.items())
    run = {
        "tool": {
            "driver": {"name": "evalkit gate", "rules": [_descriptor(name, rule) for name, rule in rules]}
        },
        "columnKind": "unicodeCodePoints",
        "results": list(_results(verdict))[:_MOST_RESULTS],
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
        for zero in own.zero:
            for event in zero.events:
                if event.steps:
                    key = (zero.rule.name, own.candidate, event.task)
                    seen[key] += 1
                    yield _result(own, zero, event, _fingerprint(*key, str(seen[key])))


def _result(own: AgentVerdict, zero: ZeroVerdict, event: ZeroEvent, fingerprint: str) -> dict[str, Any]:
    steps = ", ".join(map(str, event.steps[:_STEPS])) + (", ..." if len(event.steps) > _STEPS else "")
    told = f"{zero.rule.name} in trial {shown(event.trial_id)} of {shown(own.candidate)}, step {steps}"
    reason = f": {shown(event.reason, 1000)}" if event.reason else ""
    return {
        "ruleId": _rule_id(zero.rule),
        "level": "error" if zero.outcome == "regressed" else "note",
        "message": {"text": _plain(f"{one_line(told)}{reason}")},
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
        "partialFingerprints": {"evalkitEvent/v1": fingerprint},
    }


def task_uri(task: str) -> str:
    """`suite/task` as a relative reference that leads nowhere above; a variant is no part of it."""
    name, bracket, _ = task.rpartition(" [")
    path = name if bracket and task.endswith("]") else task
    segments = [quote(one_line(segment), safe="") for segment in path.split("/") if segment]
    return "/".join("_" * len(segment) if set(segment) == {"."} else segment for segment in segments) or "_"


def _plain(text: str) -> str:
    """Brackets would make links in a message, and braces places for arguments (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    text = text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    return text.replace("[", "\\[").replace("]", "\\]")


def _fingerprint(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
