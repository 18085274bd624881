"""Which requests are attempts at one and the same call of a model?

Inspect tells of every attempt apart. Loops may have several calls under way at once, and each may fail and be made
again, so an answer's attempts are those that asked for the same, and not those that happened to come before it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from inspect_ai.event import ModelEvent

from evalkit.trajectory.canonical import canonical_json

_HOW = frozenset({"max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections"})
"""Settings of how a call is made; none of these is sent."""


@dataclass(slots=True)
class FailedAttempts:
    """Attempts that came to nothing, until their call is answered."""

    _waiting: Counter[str] = field(default_factory=Counter[str])
    """By what was asked for."""

    def fail(self, event: ModelEvent) -> None:
        """An attempt has failed."""
        self._waiting[_request(event)] += 1

    def answered(self, event: ModelEvent) -> int:
        """How many attempts at this call had failed. Where the very same is asked for twice at once, the first answer
        has the attempts of both.
        """
        return self._waiting.pop(_request(event), 0) if self._waiting else 0


def _request(event: ModelEvent) -> str:
    """sha256 of what was asked for: model, conversation, tools and settings."""
    told = [
        event.model,
        [message.model_dump(mode="json", exclude_none=True) for message in event.input],
        [tool.name for tool in event.tools],
        event.tool_choice if isinstance(event.tool_choice, str) else event.tool_choice.name,
        event.config.model_dump(mode="json", exclude_none=True, exclude=set(_HOW)),
    ]
    return hashlib.sha256(canonical_json(told).encode("utf-8", "replace")).hexdigest()
