"""What does a model see and say, in evalkit's own words?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One tool call that a model asks for."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Reply:
    """One generation: what was thought, what was said openly, which tools were called."""

    reasoning: str | None = None
    text: str = ""
    calls: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation so far, as a scripted persona sees it."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolRequest, ...] = ()
    tool: str | None = None
    """The tool whose result this is; None for other roles."""
    error: str | None = None
    """The kind of error that kept a tool from answering; its text is then what was said about it."""
