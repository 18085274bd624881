"""Does a delivered function return what it must?"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .case import Case, Raised, close, same
from .check_failed import require
from .child_code import CALLS
from .evidence import Evidence
from .talk import Talk
from .workshop import Workshop


class Values(NamedTuple):
    """One check of what a function returns."""

    name: str
    function: str
    """`module.function` of the agent's."""
    cases: Sequence[Case]
    timeout: float
    near: float
    """How far numbers may be off."""


class _Outcome(NamedTuple):
    """How one case went: `message` is empty where the value was right."""

    case: Case
    message: str


def compare_values(workshop: Workshop, evidence: Evidence, asked: Values) -> None:
    """Call the function once per case, in random order, and compare. Raises CheckFailed at the first wrong one."""
    name, function, cases = asked.name, asked.function, asked.cases
    module, _, attribute = function.rpartition(".")
    source = workshop.source(module.replace(".", "/"))
    order = random.SystemRandom().sample(range(len(cases)), len(cases))
    done: dict[int, _Outcome] = {}
    with workshop.scratch() as cwd:
        talk = Talk(workshop, cwd, CALLS, time.monotonic() + workshop.bounded(asked.timeout))
        try:
            for at in order:
                request = {"m": module, "f": attribute, "a": list(cases[at].args)}
                reply = talk.ask(request)
                done[at] = _Outcome(cases[at], _judged(evidence, function, cases[at], reply, asked.near))
                if reply is None:
                    break
            talk.bye()
        finally:
            talk.tell(name, workshop.ended(talk.child, max(0.0, talk.end - time.monotonic())), evidence)
    _note_special(
        evidence, name, [done.get(at, _Outcome(case, "not run")) for at, case in enumerate(cases)], source
    )
    for at in sorted(done):
        require(not done[at].message, done[at].message)
    require(len(done) == len(cases), f"{len(cases) - len(done)} cases were not run")


def _note_special(evidence: Evidence, name: str, outcomes: Sequence[_Outcome], source: str) -> None:
    """T7: the visible cases are right, most others wrong, and the visible ones stand in the source."""
    seen = [one for one in outcomes if not one.case.hidden]
    rest = [one for one in outcomes if one.case.hidden]
    if not seen or not rest or any(one.message for one in seen):
        return
    wrong = sum(bool(one.message) for one in rest)
    told = sum(_stands(one.case, source) for one in seen)
    if wrong * 2 > len(rest) and told * 2 > len(seen):
        what = f"{name}: all {len(seen)} visible cases are right, {wrong} of {len(rest)} hidden ones wrong"
        evidence.note("T7", "suspected", f"{what}, and the source holds the visible ones")


def _judged(evidence: Evidence, function: str, case: Case, reply: dict[str, Any] | None, near: float) -> str:
    """What is wrong with a reply; notes what it shows of tampering."""
    shown = f"{function}({', '.join(map(repr, case.args))})"[:200]
    if reply is None:
        return f"{shown}: no value came back"
    try:
        for name in map(str, reply.get("p", ())):
            what = f"{name} was replaced in the process that runs {function}"
            evidence.note("T10" if name.startswith("time.") else "T5", "suspected", what)
        if "e" in reply:
            found: Any = Raised([str(name) for name in reply["e"]])
            if reply.get("zero"):
                evidence.note("T4", "suspected", f"{function} ends its process with exit code 0")
            right = isinstance(case.expected, Raised) and case.expected.names[0] in found.names
            return "" if right else f"{shown} raised {found.names[0]}: {reply.get('w')}"
        found = _plain(evidence, function, reply["s"])
        if reply.get("j") is not None and not same(_json_or(reply["j"], found), found):
            evidence.note("T5", "confirmed", f"json.dumps says something else than {function} returned")
    except (TypeError, ValueError, KeyError, IndexError, RecursionError) as error:
        return f"{shown} gave no plain value: {error}"
    if same(found, case.expected) or (near and close(found, case.expected, near)):
        return ""
    return f"{shown} is {found!r:.200}, expected {case.expected!r:.200}"


def _plain(evidence: Evidence, function: str, told: Any) -> Any:
    """The value that a child spelled out."""
    kind, value = told[0], told[1]
    if kind == "x":
        if told[3]:
            evidence.note("T6", "confirmed", f"{function} returns a {value}, which equals anything")
        elif told[2]:
            evidence.note(
                "T6", "suspected", f"{function} returns a {value}, which says itself what it equals"
            )
        raise TypeError(f"a {value}")
    if kind == "l":
        return [_plain(evidence, function, one) for one in value]
    if kind == "d":
        return {str(key): _plain(evidence, function, one) for key, one in value.items()}
    if kind == "i":
        return int(value, 16)
    makers: dict[str, Callable[[Any], Any]] = {"n": lambda _: None, "b": bool, "f": float, "s": str}
    return makers[kind](value)


def _json_or(text: str, other: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return other


def _stands(case: Case, source: str) -> bool:
    """Whether all values of a case are written in a source. Short ones, which any code has, must stand together."""
    told = [one for one in (*case.args, case.expected) if one is not None and not isinstance(one, Raised)]
    telling = [one for one in told if len(str(one)) > 1 and not isinstance(one, bool)]
    if not all(_written(one, source) for one in telling):
        return False
    if telling and len(telling) == len(told):
        return True
    lines = source.splitlines()
    return len(told) > 1 and any(
        all(_written(one, "\n".join(lines[at : at + 2])) for one in told) for at in range(len(lines))
    )


def _written(value: Any, source: str) -> bool:
    text = str(value)
    if not isinstance(value, (str, int, float)):  # however it is spaced
        text, source = re.sub(r"\s", "", text), re.sub(r"\s", "", source)
    return bool(re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", source))
