"""What comes of a call that a fault keeps from running?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.engine.observation import Told
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import Captured, ExecResult
from evalkit.tasks.faults import Fault, FaultKind
from evalkit.trajectory.step import ErrorKind

RETRY_AFTER_S = 1.0
"""What a rate limit asks for that does not say."""
_KINDS: Mapping[FaultKind, ErrorKind] = {
    "timeout": "timeout",
    "error_500": "unavailable",
    "rate_limit": "rate_limited",
    "permission": "permission",
}
_KILLED = 128 + 9
_NOTHING = Captured(b"", 0, truncated=False)


def refuses(fault: Fault) -> bool:
    """Whether the calls that it strikes do not run."""
    return fault.kind in _KINDS


def error_kind(fault: Fault) -> ErrorKind:
    """How the record names what such a fault does."""
    return _KINDS[fault.kind]


def wait_s(fault: Fault, settings: ToolSettings) -> float:
    """How long such a call takes. No tool waits longer than its settings let it."""
    if fault.kind != "timeout" or fault.fast:
        return 0.0
    return settings.timeout_s if fault.wait_s is None else min(fault.wait_s, settings.timeout_s)


def refused(fault: Fault, waited_s: float) -> ExecResult:
    """The result of a call that did not run."""
    if fault.kind == "timeout":
        return ExecResult(_KILLED, _NOTHING, _NOTHING, waited_s, timed_out=True)
    code = 126 if fault.kind == "permission" else 1
    stderr = "sh: permission denied" if fault.kind == "permission" else message(fault)
    data = f"{stderr}\n".encode()
    return ExecResult(code, _NOTHING, Captured(data, len(data), truncated=False), waited_s)


def message(fault: Fault) -> str:
    """What such a fault says, in one line."""
    match fault.kind:
        case "rate_limit":
            return f"429 Too Many Requests, retry-after: {_retry_after_s(fault):g}"
        case "permission":
            return "permission denied"
        case "timeout":
            return "timed out"
        case _:
            return "500 Internal Server Error"


def told(fault: Fault) -> Told:
    """What a structured error says of it; a hint says what helps."""
    wait = _retry_after_s(fault)
    hints: Mapping[FaultKind, str] = {
        "timeout": "Run it again. Where it runs out of time again, run it in the background or split it up.",
        "error_500": "The service may be back in a moment: run it again.",
        "rate_limit": f"Wait {wait:g} seconds, then run it again.",
        "permission": "Find out who may do this and put that right, then run it again.",
    }
    return Told(
        kind=error_kind(fault),
        message=None if fault.kind == "timeout" else message(fault),
        hint=hints[fault.kind],
        retry_after_s=wait if fault.kind == "rate_limit" else None,
    )


def _retry_after_s(fault: Fault) -> float:
    return RETRY_AFTER_S if fault.retry_after_s is None else fault.retry_after_s
