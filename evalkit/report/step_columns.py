"""How do the steps of a trial become columns for a page?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from evalkit.report.shown_text import name, shown
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think

Cells = dict[str, object]


def step_columns(steps: Sequence[Step]) -> dict[str, list[object]]:
    """A list for each column, as long as there are steps. Unknown is None; a column of nothing else is left out."""
    began = next((step.started_at for step in steps if step.started_at is not None), None)
    rows = [{**_common(step, began), **_own(step)} for step in steps]
    names = dict.fromkeys(key for row in rows for key, value in row.items() if value is not None)
    return {key: [row.get(key) for row in rows] for key in names}


def _common(step: Step, began: datetime | None) -> Cells:
    at = None if began is None or step.started_at is None else (step.started_at - began).total_seconds()
    return {
        "step": step.step,
        "kind": step.kind,
        "parent": step.parent_step,
        "at": _rounded(at),
        "seconds": _rounded(step.duration_s),
        "replaced": step.replaced_chars or None,
    }


def _own(step: Step) -> Cells:
    if isinstance(step, Prompt):
        return {"role": step.role, "text": shown(step.text)}
    if isinstance(step, Think):
        return _think(step)
    if isinstance(step, Act):
        return _act(step)
    return _event(step)


def _think(step: Think) -> Cells:
    return {
        "reasoning": shown(step.reasoning),
        "visibility": step.reasoning_visibility,
        "text": shown(step.text),
        "input": step.input_tokens,
        "cached": step.cache_read_tokens,
        "output": step.output_tokens,
        "thinking": step.reasoning_tokens,
        "usd": step.cost_usd,
        "finish": name(step.finish_reason),
        "retries": step.retries or None,
    }


def _act(step: Act) -> Cells:
    truncated = step.stdout_truncated or step.stderr_truncated
    return {
        "think": step.think_step,
        "tool": name(step.tool),
        "call": shown(call_text(step)),
        "unparsed": True if step.arguments is None and step.arguments_raw is not None else None,
        "observation": shown(_observation(step)),
        "exit": step.exit_code,
        "error": step.error_kind,
        "fault": name(step.fault_id),
        "approval": name(step.approval),
        "bytes": (step.stdout_bytes or 0) + (step.stderr_bytes or 0) if truncated else None,
    }


def _event(step: Event) -> Cells:
    return {"event": step.event, "detail": shown(step.detail)}


def _observation(step: Act) -> str | None:
    if step.observation is not None:
        return step.observation
    return None if step.stdout is None and step.stderr is None else (step.stdout or "") + (step.stderr or "")


def call_text(step: Act) -> str | None:
    """The arguments for a reader: a single text as it is, several with their names, others as JSON."""
    if step.arguments is None:
        return step.arguments_raw
    try:
        arguments: object = json.loads(step.arguments)
        if not isinstance(arguments, dict):
            return step.arguments
        named = cast("dict[str, object]", arguments)
        if len(named) == 1:
            (only,) = named.values()
            return only if isinstance(only, str) else step.arguments
        return "\n".join(
            f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for key, value in named.items()
        )
    except (ValueError, RecursionError):
        return step.arguments


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
