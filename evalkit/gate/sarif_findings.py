"""How is a finding of tampering told to code scanning?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from evalkit.gate.hostile_text import shown
from evalkit.gate.sarif_text import fingerprint, plain, task_uri
from evalkit.gate.verdict import TrialFinding, Verdict, steps_told
from evalkit.trajectory.finding import CODES, Code

_STEPS = 20
_HELP = (
    "Confirmed findings rest on an integrity check, on a token that came out, or on an impossible task that passed; "
    "such a trial has no success. Suspected ones are signs in the record, for a reader to judge. Every finding names "
    "the steps that show it: evalkit show RUN TRIAL."
)


def code_descriptor(code: Code) -> dict[str, Any]:
    """The rule of a kind of tampering; its id never changes."""
    what = CODES[code]
    return {
        "id": _rule_id(code),
        "name": f"tampering {code}",
        "shortDescription": {"text": f"{what[:1].upper()}{what[1:]}"},
        "help": {"text": f"{code}: {what}. {_HELP}"},
        "defaultConfiguration": {"level": "error"},
    }


def finding_results(verdict: Verdict) -> Iterator[dict[str, Any]]:
    """One for each finding, confirmed ones first, those of one trial together."""
    found = [one for own in verdict.agents for one in own.findings]
    seen: Counter[tuple[str, ...]] = Counter()
    for one in sorted(found, key=lambda one: one.finding.level != "confirmed"):
        finding = one.finding
        key = (finding.code, finding.level, one.agent, one.task, finding.resource or "")
        seen[key] += 1
        yield _result(one, fingerprint("tampering", *key, str(seen[key])))


def _rule_id(code: Code) -> str:
    return f"evalkit/tampering/{code}"


def _result(one: TrialFinding, mark: str) -> dict[str, Any]:
    finding = one.finding
    where = f"trial {shown(one.trial_id)} of {shown(one.agent)}{steps_told(finding.steps, _STEPS)}"
    held = "" if finding.in_force else ", not in force when it was graded"
    told = f"{shown(finding.what, 1000)} ({finding.level}{held}; {where})"
    logical = [
        {"fullyQualifiedName": f"{shown(one.trial_id)}#{step}", "kind": "step"}
        for step in finding.steps[:_STEPS]
    ]
    return {
        "ruleId": _rule_id(finding.code),
        "level": "error" if finding.level == "confirmed" else "warning",
        "message": {"text": plain(told)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": task_uri(one.task) if one.file is None else _file_uri(one.file)
                    },
                    "region": {"startLine": 1},
                },
                **({"logicalLocations": logical} if logical else {}),
            }
        ],
        "partialFingerprints": {"evalkitFinding/v1": mark},
    }


def _file_uri(path: str) -> str:
    """A path below the working directory; no part of it is taken for a task's variant."""
    return task_uri(path + "/") if path.endswith("]") else task_uri(path)
