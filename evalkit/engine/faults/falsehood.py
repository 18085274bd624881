"""What does a fault show instead of what a call printed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalkit.engine.faults import canary
from evalkit.engine.faults.alteration import first_half, garbled, value_in
from evalkit.engine.faults.drift import drifted
from evalkit.sandbox.protocol import Captured, ExecResult
from evalkit.tasks.faults import Fault, FaultKind

_SAID: Mapping[FaultKind, bytes] = {"partial": b"truncated\n", "garbled": b"checksum mismatch\n"}
"""What a loud one says on stderr."""
_NOTHING_TO_DO: Mapping[FaultKind, str] = {
    "partial": "too little was printed to be cut",
    "stale": "there was no earlier observation of the same call that was different",
    "empty": "nothing was printed",
    "schema_drift": "what was printed is neither JSON, nor a table, nor key and value lines",
    "garbled": "nothing was printed",
    "wrong_value": "what was printed holds no value of its own",
}
"""Why one changes nothing, by kind."""
_NOTHING = Captured(b"", 0, truncated=False)


@dataclass(frozen=True, slots=True)
class Falsehood:
    """What is shown of a call that ran."""

    result: ExecResult
    canary: str | None = None


def falsehood(
    fault: Fault, task_id: str, true: ExecResult, earlier: ExecResult | None = None
) -> Falsehood | None:
    """What is shown of a call that went well; `earlier` is what the same call showed before. None where the fault finds
    nothing to alter.
    """
    if _is_true(fault, true):
        return None
    match fault.kind:
        case "stale":
            return earlier and Falsehood(replace(true, stdout=earlier.stdout, stderr=earlier.stderr))
        case "empty":
            return Falsehood(replace(true, stdout=_NOTHING, stderr=_NOTHING))
        case _:
            altered, mark = _altered(fault, task_id, true.stdout.data)
    if altered is None:
        return None
    result = replace(true, stdout=_captured(true.stdout, altered))
    return Falsehood(_with_complaint(result, fault) if fault.is_loud else result, mark)


def nothing_to_do(fault: Fault, true: ExecResult) -> str:
    """Why a fault has altered nothing."""
    if true.exit_code != 0:
        return f"the call itself ended with exit code {true.exit_code}"
    if _is_true(fault, true):
        return f"its canary {fault.canary!r} stands in what was really printed, so it would prove nothing"
    return _NOTHING_TO_DO[fault.kind]


def _is_true(fault: Fault, true: ExecResult) -> bool:
    """Whether the canary that the author gave is no lie here."""
    return fault.canary is not None and any(fault.canary in one.text for one in (true.stdout, true.stderr))


def _altered(fault: Fault, task_id: str, data: bytes) -> tuple[bytes | None, str | None]:
    text = data.decode("utf-8", "surrogateescape")
    match fault.kind:
        case "partial":
            return _bytes(first_half(text)), None
        case "garbled":
            mark = fault.canary or canary.word(task_id, fault.id)
            return garbled(data, mark), mark
        case "schema_drift":
            mark = fault.canary or canary.word(task_id, fault.id)
            return _bytes(drifted(text, mark)), mark
        case _:
            where = value_in(text)
            if where is None:
                return None, None
            begin, end = where
            mark = fault.canary or canary.like(text[begin:end], task_id, fault.id, text)
            return _bytes(text[:begin] + mark + text[end:]), fault.canary or canary.traced(mark)


def _with_complaint(result: ExecResult, fault: Fault) -> ExecResult:
    said = result.stderr.data
    whole = said + (b"\n" if said and not said.endswith(b"\n") else b"") + _SAID[fault.kind]
    return replace(result, exit_code=1, stderr=_captured(result.stderr, whole))


def _captured(before: Captured, data: bytes) -> Captured:
    return Captured(data, before.total + len(data) - len(before.data), truncated=before.truncated)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")
