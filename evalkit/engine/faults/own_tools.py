"""How does a fault get at tools that are not evalkit's?

They run on this machine, not in the sandbox, and give any text. A struck one fails as a tool does, by an error; a lie
takes the place of the first text of what it gave.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from inspect_ai.model import ContentText
from inspect_ai.tool import Tool, ToolDef, ToolError

from evalkit.engine.faults.called import Called
from evalkit.engine.faults.injector import Injector
from evalkit.engine.faults.refusal import message
from evalkit.engine.faults.site import Site
from evalkit.engine.faults.strike import Seen, Strike
from evalkit.engine.traces import own_call_trace
from evalkit.sandbox.protocol import Captured, ExecResult
from evalkit.trajectory.canonical import canonical_json

_NOTHING = Captured(b"", 0, truncated=False)


def through(injector: Injector, site: Site, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The same tools, whose calls the fault may strike. Called one at a time, as calls are counted."""
    return tuple(_wrapped(injector, site, ToolDef(tool)) for tool in tools)


def _wrapped(injector: Injector, site: Site, own: ToolDef) -> Tool:
    execute = cast("Callable[..., Awaitable[Any]]", own.tool)

    @functools.wraps(execute)
    async def struck(*args: Any, **arguments: Any) -> Any:
        given: list[Any] = []

        async def run() -> ExecResult:
            given.append(await execute(*args, **arguments))
            data = _text(given[0]).encode("utf-8", "surrogatepass")
            return ExecResult(0, Captured(data, len(data), truncated=False), _NOTHING, 0.0)

        trace = own_call_trace(own.name)

        def note(strike: Strike) -> None:
            trace.strike = strike

        seen = await injector.call(Called(own.name, arguments), site, run, note)
        trace.strike = seen.strike
        if not given:
            raise ToolError(_refusal(injector, seen, site))
        if seen.strike is None or not seen.strike.visible:
            return given[0]
        if seen.result.exit_code:  # a loud lie
            raise ToolError(f"{seen.result.stdout.text}{seen.result.stderr.text}".rstrip("\n"))
        return _with_text(given[0], seen.result.stdout.text)

    return ToolDef(
        struck,
        name=own.name,
        description=own.description,
        parameters=own.parameters,
        parallel=False,
        viewer=own.viewer,
        model_input=own.model_input,
        max_output=own.max_output,
        options=own.options,
    ).as_tool()


def _refusal(injector: Injector, seen: Seen, site: Site) -> str:
    """What the model is told of a call that did not run, in the error style of the tool settings."""
    fault, told = injector.fault, seen.told
    said = f"timed out after {site.settings.timeout_s:g} s" if fault.kind == "timeout" else message(fault)
    if site.settings.errors == "terse":
        return "failed"
    if site.settings.errors == "plain" or told is None:
        return said
    error: dict[str, object] = {"kind": told.kind, "message": said, "hint": told.hint}
    if told.retry_after_s is not None:
        error["retry_after_s"] = told.retry_after_s
    return canonical_json({"error": error})


def _text(given: object) -> str:
    """The text that a fault can alter; empty for what holds none."""
    if isinstance(given, str | int | float):
        return str(given)
    if isinstance(given, ContentText):
        return given.text
    parts = cast("list[object]", given) if isinstance(given, list) else []
    return next((part.text for part in parts if isinstance(part, ContentText)), "")


def _with_text(given: object, text: str) -> object:
    if isinstance(given, ContentText):
        return given.model_copy(update={"text": text})
    if not isinstance(given, list):
        return text
    parts = list(cast("list[object]", given))
    for number, part in enumerate(parts):
        if isinstance(part, ContentText):
            parts[number] = part.model_copy(update={"text": text})
            break
    return parts
