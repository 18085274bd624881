"""What did a model answer, whatever the shape of its provider's response?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalkit.models.usage import Usage

Finish = Literal["stop", "tool_calls", "length", "context_length", "content_filter", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """One block of thinking, as far as the provider shows it."""

    text: str | None = None
    """What was thought, or a summary of it; None where only an opaque form came back."""
    is_summary: bool = False
    signature: str | None = None
    """Proof of the provider's, to be sent back with the block."""
    opaque: str | None = None
    """Encrypted or redacted thinking, to be sent back as it is and never read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One block of what was said openly."""

    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call."""

    id: str
    """As the provider named it; not unique in the wild. Empty where it gave none."""
    tool: str
    arguments: str
    """JSON text exactly as the model wrote it, which may not parse; where the provider sent an object, that as JSON."""
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A block that is none of these, such as a search that the provider ran itself."""

    type: str


Block: TypeAlias = Reasoning | Text | Call | Other


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one response says. Blocks are in the order in which the model made them."""

    blocks: tuple[Block, ...] = ()
    usage: Usage | None = None
    """None where the response reports no usage at all."""
    raw_usage: Mapping[str, object] | None = None
    """Exactly as reported."""
    finish: Finish = "unknown"
    finish_raw: str | None = None
    """The provider's own word."""
    model_served: str | None = None
    error: str | None = None
    """An error that came inside a response that began well."""
    complete: bool = True
    """False where a stream ended before its end was said."""
