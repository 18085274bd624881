"""What does Inspect tell us while it runs?"""

from __future__ import annotations

import functools

from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, RunEnd, hooks

from evalkit.engine.attempts import current_attempts
from evalkit.models.litellm_setup import close_clients, has_open_clients


class AttemptHooks(Hooks):
    """Hears from Inspect what happens to the generation in this context."""

    def enabled(self) -> bool:
        """Only where somebody counts."""
        return current_attempts.get() is not None

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:  # noqa: ARG002  Inspect's
        """An attempt begins."""
        attempts = current_attempts.get()
        if attempts is not None:
            attempts.begin()

    async def on_model_retry(self, data: ModelRetry) -> None:
        """An attempt has failed, and another follows after a wait."""
        attempts = current_attempts.get()
        if attempts is not None:
            attempts.fail(data)


class ClientHooks(Hooks):
    """Closes what was opened, while the event loop still runs."""

    def enabled(self) -> bool:
        """Only where something is open."""
        return has_open_clients()

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002  Inspect's
        """Nothing is asked any more."""
        await close_clients()


@functools.cache
def register() -> None:
    """Hear from Inspect from now on. Only once an eval is on its way: Inspect prints a list of hooks that it finds."""
    hooks(name="evalkit_attempts", description="Keeps count of the attempts at a generation.")(AttemptHooks)
    hooks(name="evalkit_clients", description="Closes the connections to model endpoints.")(ClientHooks)
