"""When does an endpoint's no count for every further call?

A wrong key, a model that does not exist or a parameter that is not taken fails every call alike. The first answer is
enough: it is given again without asking, so that a thousand trials are not a thousand requests.
"""

from __future__ import annotations

from evalkit.models.failure import Cause, EndpointFailure, SentDiffers

_AT_ONCE = frozenset({401, 402, 403, 404})
"""Statuses that are about the endpoint, not about one conversation."""
_ALIKE = 3
"""So many other refusals, word for word alike, without any answer between, are about the endpoint too."""

_UNREACHED = 18
"""So many connections in a row that could not be made, without any answer ever."""


class Refusals:
    """What an endpoint has refused so far. Once it has given an answer, a refusal is about one call alone."""

    def __init__(self) -> None:
        self.answered = False
        self._last: str | None = None
        self._alike = 0
        self._unreached = 0
        self._final: EndpointFailure | None = None

    def check(self) -> None:
        """Raise what the endpoint said, where asking again is of no use."""
        if self._final is not None:
            raise EndpointFailure(self._final.message, self._final.cause, hint=self._final.hint)

    def note(self, failure: EndpointFailure) -> None:
        """Take a failure down."""
        if isinstance(failure, SentDiffers):
            self._final = failure
        if self.answered:
            return
        if failure.cause.retryable:
            self._note_passing(failure)
            return
        if failure.cause.status is None:
            return
        self._alike = self._alike + 1 if failure.message == self._last else 1
        self._last = failure.message
        if failure.cause.status in _AT_ONCE or self._alike == _ALIKE:
            self._final = failure

    def _note_passing(self, failure: EndpointFailure) -> None:
        """Nobody is there: after some trials have tried in vain, no other one has to."""
        if failure.cause.status is None and not failure.cause.maybe_billed:
            self._unreached += 1
            if self._unreached == _UNREACHED:
                self._final = EndpointFailure(
                    failure.message, Cause(None, retryable=False), hint=failure.hint
                )
        else:
            self._unreached = 0
