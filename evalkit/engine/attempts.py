"""How often was a model asked for one answer, and how long did that take that is not the agent's?

Inspect tries again what failed, for every provider; it tells its hooks before each attempt and each wait.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from inspect_ai.hooks import ModelRetry
from inspect_ai.model import GenerateConfig, ModelOutput
from tenacity import RetryCallState, RetryError, wait_exponential_jitter
from tenacity.wait import wait_base

from evalkit.engine.agent import Agent
from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.inspect_thinking import thinking_settings
from evalkit.engine.recorder import Recorder, Stopwatch
from evalkit.engine.spending import Spending
from evalkit.errors import EvalkitError, ModelError
from evalkit.models.budget import Spent
from evalkit.models.failure import LONGEST_WAIT_S, EndpointFailure, SentDiffers
from evalkit.models.prices import cost_of
from evalkit.models.rates import Price
from evalkit.trajectory.canonical import canonical_json

MAX_RETRIES = 5
"""Of one generation; then the endpoint counts as unreachable and the trial is unscored."""


@dataclass(slots=True)
class Attempts:
    """The attempts at one generation, as they happen."""

    clock: AgentClock
    recorder: Recorder
    spending: Spending
    failed: int = 0
    last: EndpointFailure | None = None
    """Why the last attempt failed, where its provider is ours."""
    watch: Stopwatch = field(default_factory=Stopwatch)
    """Since the present attempt began; before the first, since it was asked for."""

    @contextmanager
    def counted(self) -> Generator[None]:
        """What is asked inside is counted here. Until it is sent, the agent's clock stands still."""
        token = current_attempts.set(self)
        self.clock.stop()
        try:
            yield
        finally:
            self.clock.go_on()
            current_attempts.reset(token)

    def begin(self) -> None:
        """An attempt is sent: from now on the agent's time counts."""
        self.clock.go_on()
        self.watch = Stopwatch()

    def fail(self, data: ModelRetry) -> None:
        """An attempt has failed and will be made again: neither it nor the wait is the agent's time."""
        self.clock.stop(for_s=self.watch.seconds)
        self.failed += 1
        usage = self.last.reading.raw_usage if self.last and self.last.reading else None
        detail = {
            "attempt": data.attempt,
            "status": data.status_code,
            "error": data.exception_type if self.last is None else self.last.message,
            "seconds": round(self.watch.seconds, 3),
            "wait_s": round(data.wait_time, 3),
            **({} if usage is None else {"usage": dict(usage)}),
        }
        self.recorder.event("retry", canonical_json(detail))

    def lose(self, failure: EndpointFailure, price: Price | None) -> None:
        """An attempt has come to nothing: remember why, and what it may have cost."""
        self.last = failure
        if isinstance(failure, SentDiffers):
            self.spending.note_level(failure.sent)
        if failure.cause.maybe_billed:
            usage = failure.reading.usage if failure.reading else None
            self.spending.lose(cost_of(price, usage).usd)

    def answered(self, output: ModelOutput, retries: int | None) -> None:
        """An answer has come. Providers of Inspect's try again by themselves too: `retries` times, says its event, and
        how long the request took that succeeded, its output.
        """
        if not retries or output.time is None:
            return
        lost = max(self.watch.seconds - output.time, 0.0)
        self.clock.stop(for_s=lost)
        self.clock.go_on()
        self.failed += retries
        self.watch = self.watch.later(lost)
        detail = {"within": "the provider's own client", "times": retries, "seconds": round(lost, 3)}
        self.recorder.event("retry", canonical_json(detail))

    def failure(self, error: Exception, model: str) -> EvalkitError:
        """What to raise where no attempt succeeded."""
        last = error.last_attempt.exception() if isinstance(error, RetryError) else error
        if isinstance(last, EndpointFailure):
            tried = f" (asked {self.failed + 1} times)" if self.failed else ""
            return EndpointFailure(f"{last.message}{tried}", last.cause, hint=last.hint)
        if isinstance(last, ModelError | Spent):
            return last
        return ModelError(f"{model} could not answer: {type(last).__name__}: {last}")


current_attempts: ContextVar[Attempts | None] = ContextVar("evalkit_current_attempts", default=None)


def model_config(agent: Agent) -> GenerateConfig:
    """What a model is asked with, and how often at most."""
    sampling = agent.sampling
    return GenerateConfig(
        max_retries=MAX_RETRIES,
        temperature=sampling.temperature,
        seed=sampling.seed,
        max_tokens=sampling.max_tokens,
        **thinking_settings(agent.model, agent.thinking.level),
    )


class RetryWait(wait_base):
    """How long to wait before another attempt: as the endpoint asks, and at least an exponential backoff."""

    def __init__(self) -> None:
        self._backoff = wait_exponential_jitter(initial=1, max=60, jitter=1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds."""
        backoff = self._backoff(retry_state)
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = error.cause.retry_after_s if isinstance(error, EndpointFailure) else None
        return backoff if asked is None else min(max(asked, _NOT_AT_ONCE * backoff), LONGEST_WAIT_S)


_NOT_AT_ONCE = 0.25
"""Of the backoff is waited even where the endpoint asks for less, so that a wrong 0 is no storm."""
