"""When must an agent stop?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.engine.recorder import Recorder
from evalkit.models.budget import Spent
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.trial import StopReason


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Bounds on the agent's part of one trial. None means: unbounded."""

    steps: int | None = None
    """Model generations."""
    tokens: int | None = None
    """Input, cache and output tokens of all generations together."""
    time_s: float | None = None
    """Seconds of the agent's clock: from its first generation, without set-up and grading."""

    def reached(self, recorder: Recorder) -> StopReason | None:
        """Which limit forbids a further generation; time is enforced from outside."""
        if self.steps is not None and len(recorder.thinks) >= self.steps:
            return "step_limit"
        if self.tokens is not None and tokens_spent(recorder) >= self.tokens:
            return "token_limit"
        return None


def note_spent(recorder: Recorder, spent: Spent) -> StopReason:
    """Record that too little money is left for another call, and say how the agent's part has ended."""
    detail = {
        "limit": "cost_limit",
        "of": spent.which,
        "limit_usd": spent.limit_usd,
        "spent_usd": spent.realised_usd,
    }
    recorder.event("limit", canonical_json(detail))
    return "cost_limit"


def tokens_spent(recorder: Recorder) -> int:
    """Tokens of all generations so far; counts that were not reported add nothing (a lower bound)."""
    return sum(
        (think.input_tokens or 0)
        + (think.cache_read_tokens or 0)
        + (think.cache_write_tokens or 0)
        + (think.output_tokens or 0)
        for think in recorder.thinks
    )
