"""Which call has touched which path?

After each call the sandbox lists its files with a signature of each; a path whose signature is another one than at the
listing before was touched meanwhile. Listings serve this alone: they may be forged, or too long to be made, and then
several calls share what was touched.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.effects.ref_tracking import MAX_BYTES, RefTracker, packed_files
from evalkit.errors import EvalkitError
from evalkit.sandbox.protocol import Sandbox


@dataclass(slots=True)
class Span:
    """What happened between two listings."""

    steps: list[int] = field(default_factory=list[int])
    """The calls, usually one."""
    paths: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Traced:
    """Who has touched something. Nobody knows: both empty."""

    step: int | None = None
    evidence: tuple[int, ...] = ()


class Attribution:
    """Follows one sandbox from call to call."""

    def __init__(self, sandbox: Sandbox, *, only_workdir: bool) -> None:
        self._sandbox = sandbox
        self._only_workdir = only_workdir
        """Listings tell of the working directory alone, and are not asked for where its digest is the same."""
        self._last: Mapping[str, str] | None = None
        self._digest: str | None = None
        self._refs = RefTracker({})
        self._open = Span()
        self._spans: list[Span] = []
        self._seen: set[str] = set()
        self._seconds = 0.0
        self.clock: AgentClock | None = None
        """The agent's; None while it does not run."""

    async def begin(self, contents: Mapping[str, bytes]) -> None:
        """Everything before this is nobody's. `contents` are those of the files that hold refs."""
        self._refs = RefTracker(contents)
        self._open, self._last = Span(), await self._listed()
        if self._only_workdir and self._last is not None:
            self._digest = await self._sandbox.workspace_digest()

    async def look(self, digest: str | None = None) -> Span:
        """What was touched since the last look; the caller adds the number of its step. `digest` is the working
        directory's, where it is known.
        """
        began = time.perf_counter()
        with self.clock.measuring() if self.clock is not None else nullcontext():
            span = await self._look(digest)
        if self.clock is not None:
            self._seconds += time.perf_counter() - began
        return span

    async def _look(self, digest: str | None) -> Span:
        span = self._open
        if self._only_workdir and digest is not None and digest == self._digest:
            self._open = Span()
            return span
        now = await self._listed()
        if now is None:
            return span
        if self._last is not None:
            await self._close(span, self._last, now)
        self._last, self._digest = now, digest
        return span

    def taken_s(self) -> float:
        """How long listing took since this was asked last, in seconds that are not the agent's."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def missed(self, step: int) -> None:
        """A call that was cut off, after which nothing could be listed."""
        self._open.steps.append(step)

    def of(self, paths: Iterable[str]) -> Traced:
        """Who has touched any of these paths: the last call that did, and all that did."""
        wanted = frozenset(paths)
        spans = [span for span in self._spans if span.steps and not wanted.isdisjoint(span.paths)]
        if not spans:
            return Traced()
        last = spans[-1].steps
        evidence = dict.fromkeys(step for span in spans for step in span.steps)
        return Traced(last[0] if len(last) == 1 else None, tuple(evidence))

    @property
    def is_behind(self) -> bool:
        """Whether a call is over that nobody has looked after."""
        return bool(self._open.steps)

    @property
    def seen(self) -> frozenset[str]:
        """Every path that was touched."""
        return frozenset(self._seen)

    async def _close(self, span: Span, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        touched = {path for path, signature in now.items() if before.get(path) != signature}
        touched |= before.keys() - now.keys()
        packed = {path: await self._packed(path, now) for path in packed_files(touched)}
        span.paths = self._refs.refined(touched, before.keys(), now.keys(), packed)
        self._seen |= touched
        self._spans.append(span)
        self._open = Span()

    async def _packed(self, path: str, now: Collection[str]) -> bytes | None:
        if path not in now:
            return b""
        try:
            return await self._sandbox.read_file(path, max_bytes=MAX_BYTES)
        except (EvalkitError, OSError):
            return None

    async def _listed(self) -> Mapping[str, str] | None:
        try:
            return await self._sandbox.listing()
        except (EvalkitError, OSError):  # the call itself will say what is wrong, if anything is
            return None


async def look(digest: str | None = None) -> Span | None:
    """What the call that is just over has touched, in the trial that is running; None where nobody follows it."""
    attribution = current_attribution.get()
    return None if attribution is None else await attribution.look(digest)


async def settle() -> None:
    """Look, where a call is over that nobody has looked after."""
    attribution = current_attribution.get()
    if attribution is not None and attribution.is_behind:
        await attribution.look()


def missed(step: int) -> None:
    """The call of this step is over, and what it touched is not known by itself."""
    attribution = current_attribution.get()
    if attribution is not None:
        attribution.missed(step)


current_attribution: ContextVar[Attribution | None] = ContextVar("evalkit_attribution", default=None)
"""That of the trial that is running; None where effects are not measured."""
