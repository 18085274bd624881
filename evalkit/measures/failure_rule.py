"""Did an action fail, and by which rule?"""

from __future__ import annotations

import re
from typing import Literal

from evalkit.measures.shell_call import shell_line
from evalkit.trajectory.step import Act

FailureRule = Literal["harness", "arguments", "fault", "signal", "exit_code"]

_HARNESS = frozenset({"timeout", "denied", "sandbox", "limit"})
_PREDICATES = frozenset({"grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "["})
"""Programs whose exit code 1 is an answer."""
_LAST_COMMAND = re.compile(r"[;&|\n]+")


def failure_rule(act: Act, *, silent_faults: frozenset[str] = frozenset()) -> FailureRule | None:
    """The first rule by which an action failed, in this order; None for one that did not.

    `harness`: the harness raised, timed out or denied it. `arguments`: they did not parse. `fault`: a loud fault fired
    on it (those in `silent_faults` say nothing). `signal`: the format's own error signal, `error_kind`. `exit_code`:
    not zero, unless the program answers with it (grep, diff, cmp, test, `[` with exit 1).
    """
    if act.error_kind in _HARNESS:
        return "harness"
    if act.error_kind == "parsing" or act.arguments_raw is not None:
        return "arguments"
    if act.fault_id is not None and act.fault_id not in silent_faults:
        return "fault"
    if act.error_kind is not None:
        return "signal"
    if act.exit_code in {None, 0}:
        return None
    return None if act.exit_code == 1 and _is_predicate(act) else "exit_code"


def _is_predicate(act: Act) -> bool:
    line = shell_line(act)
    if line is None:
        return False
    last = [part.strip() for part in _LAST_COMMAND.split(line) if part.strip()]
    program = last[-1].split()[0].rpartition("/")[2] if last else ""
    return program in _PREDICATES
