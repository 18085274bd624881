"""Did an action fail, and by which rule?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from evalkit.measures.shell_call import shell_line
from evalkit.measures.shell_line import answers_with_1
from evalkit.trajectory.step import Act

FailureRule = Literal["harness", "arguments", "fault", "signal", "exit_code", "hook"]
Hook = Callable[[Act], bool]
"""Says of a call that went through by all other rules whether it failed nevertheless."""

_HARNESS = frozenset({"timeout", "denied", "sandbox", "limit"})


def failure_rule(
    act: Act, *, silent_faults: frozenset[str] = frozenset(), hooks: Sequence[Hook] = ()
) -> FailureRule | None:
    """The first rule by which an action failed, in this order; None for one that did not.

    `harness`: the harness raised, timed out or denied it. `arguments`: they did not parse. `fault`: a loud fault fired
    on it (those in `silent_faults` say nothing). `signal`: the format's own error signal, `error_kind`. `exit_code`:
    not zero, unless the program answers with it (grep, diff, cmp, test, `[` with exit 1). `hook`: a declared one says
    so.
    """
    if act.error_kind in _HARNESS:
        return "harness"
    if act.error_kind == "parsing" or act.arguments_raw is not None:
        return "arguments"
    if act.fault_id is not None and act.fault_id not in silent_faults:
        return "fault"
    if act.error_kind is not None:
        return "signal"
    if act.exit_code not in {None, 0} and not (act.exit_code == 1 and _answers(act)):
        return "exit_code"
    return "hook" if any(hook(act) for hook in hooks) else None


def _answers(act: Act) -> bool:
    line = shell_line(act)
    return line is not None and answers_with_1(line)
