"""What has a sealed grader said of these deliverables already?

It sees nothing else of what an agent did, so that its word on equal deliverables holds for all that delivered them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from evalkit.grading.verdict import Verdict
from evalkit.sandbox.protocol import Deliverable

Asked = tuple[str | None, tuple[Deliverable, ...], str | None]
"""The stage, what was delivered and what was answered."""


class KnownVerdicts:
    """The verdicts of one task's graders. What failed to give one is asked again."""

    def __init__(self) -> None:
        self._known: dict[Asked, Verdict] = {}
        self._at_work: dict[Asked, anyio.Lock] = {}

    async def ask(self, asked: Asked, grade: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """The verdict that is known, else the grader's; who asks while it is at work waits for it."""
        async with self._at_work.setdefault(asked, anyio.Lock()):
            if asked not in self._known:
                self._known[asked] = await grade()
            return self._known[asked]
