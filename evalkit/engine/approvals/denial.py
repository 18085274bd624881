"""What does the model see of a call that was denied?"""

from __future__ import annotations

from evalkit.engine.approvals.deciding import Decision
from evalkit.engine.tool_settings import ToolSettings
from evalkit.trajectory.canonical import canonical_json

_HINT = "Do the task in another way; if there is none, call report_impossible and say why."


def denial(decision: Decision, settings: ToolSettings) -> str:
    """The text in place of a result, in the style that the tool settings name."""
    if settings.denials == "terse":
        return "denied"
    why = decision.rule.reason if decision.rule and decision.rule.reason else _why(decision)
    if settings.denials == "plain":
        return f"denied: {why}; the call was not run"
    error = {"kind": "denied", "rule": decision.rule_name, "message": why, "hint": _HINT}
    return canonical_json({"error": error, "stdout": "", "stderr": ""})


def _why(decision: Decision) -> str:
    if decision.rule is None:
        return "nothing permits this here"
    return f"the rule {decision.rule.name} does not permit this"
