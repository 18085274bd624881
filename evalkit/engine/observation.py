"""What does the model see of a call?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.engine.tool_settings import KeptEnd, ToolSettings
from evalkit.sandbox.protocol import ExecResult
from evalkit.trajectory.canonical import canonical_json


@dataclass(frozen=True, slots=True)
class Told:
    """What a structured error says of a failure that is no ordinary one."""

    kind: str
    message: str | None
    """None: as of any such failure."""
    hint: str
    retry_after_s: float | None = None


def observe(result: ExecResult, settings: ToolSettings, told: Told | None = None) -> str:
    """Write a call's result as the tool settings want it."""
    stdout = cut(result.stdout.text, settings.output_bytes, settings.keep)
    stderr = cut(result.stderr.text, settings.output_bytes, settings.keep)
    failure = _failure(result, settings)
    if failure and settings.errors == "terse":
        hidden = settings.exit_codes == "never" and not (result.timed_out or result.shell_lost)
        return "failed\n" if hidden else f"{failure}\n"
    if failure and settings.errors == "structured":
        error = _error(result, settings, failure) if told is None else _told(result, settings, failure, told)
        return canonical_json({"error": error, "stdout": stdout, "stderr": stderr})
    parts = [_lines(stdout)]
    if stderr:
        parts.append(f"[stderr]\n{_lines(stderr)}")
    if failure and (result.timed_out or result.shell_lost):
        parts.append(f"[{failure}]\n")
    elif settings.exit_codes == "always" or (settings.exit_codes == "nonzero" and result.exit_code):
        parts.append(f"[exit code {result.exit_code}]\n")
    return "".join(parts)


def cut(text: str, limit: int, keep: KeptEnd) -> str:
    """Shorten text to `limit` bytes of UTF-8 at the end that is not kept, saying how much is gone."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    gone = f"\n[... {len(data) - limit} bytes cut ...]\n"
    if keep == "head":
        return data[:limit].decode("utf-8", "ignore") + gone
    if keep == "tail":
        return gone + data[-limit:].decode("utf-8", "ignore")
    half = limit // 2
    head, tail = data[:half], data[len(data) - (limit - half) :]
    return head.decode("utf-8", "ignore") + gone + tail.decode("utf-8", "ignore")


def _failure(result: ExecResult, settings: ToolSettings) -> str | None:
    if result.timed_out:
        return f"timed out after {settings.timeout_s:g} s; it was stopped with everything it had started"
    if result.shell_lost:
        return "the shell was killed; a new one was started, background processes are gone"
    if result.exit_code:
        return f"exit code {result.exit_code}"
    return None


def _told(result: ExecResult, settings: ToolSettings, failure: str, told: Told) -> dict[str, object]:
    error: dict[str, object] = {"kind": told.kind, "message": told.message or failure, "hint": told.hint}
    if told.retry_after_s is not None:
        error["retry_after_s"] = told.retry_after_s
    if settings.exit_codes != "never":
        error["exit_code"] = result.exit_code
    return error


def _error(result: ExecResult, settings: ToolSettings, failure: str) -> dict[str, object]:
    kind = "timeout" if result.timed_out else "sandbox" if result.shell_lost else "exit_code"
    hints = {
        "timeout": "Run long work in the background, or split it up.",
        "sandbox": "Do not kill the shell that runs your commands; kill a process by its own id.",
        "exit_code": "Read stderr, change what caused it, then run the command again.",
    }
    error: dict[str, object] = {"kind": kind, "message": failure, "hint": hints[kind]}
    if settings.exit_codes != "never":
        error["exit_code"] = result.exit_code
    elif kind == "exit_code":
        error |= {"kind": "failed", "message": "the command failed"}
    return error


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
