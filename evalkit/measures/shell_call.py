"""Which tool calls run a shell line, and which line?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from evalkit.trajectory.step import Act

SHELL_TOOLS: Mapping[str, str] = {"bash": "command", "shell": "command", "execute_bash": "command"}
"""Tools that run a shell line, and which of their arguments it is."""


def shell_line(act: Act) -> str | None:
    """The shell line that a call runs; None for a call of another tool, or without one."""
    name = SHELL_TOOLS.get(act.tool or "")
    line = arguments_of(act).get(name) if name else None
    return line if isinstance(line, str) else None


def arguments_of(act: Act) -> Mapping[str, object]:
    """A call's arguments; empty where they are no JSON object."""
    try:
        value: object = json.loads(act.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
