"""Who said and did what in a simulation in which agent and user speak at the same time?

Such a simulation (full duplex) is told in ticks of a fraction of a second, each with a piece of what either says, and
with calls and results. What one of them says without the other's taking over is one message, in the order in which they
began to speak.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from evalkit.models.wire.json_values import as_list, as_object, is_object, objects_in, text_in

Raw = Mapping[str, object]
_FACTS = ("usage", "raw_data", "cost")
_SPEAKERS = {"agent": "assistant", "user": "user"}


def messages_in(ticks: object) -> Iterator[Raw]:
    """The conversation, as messages like those of a simulation in which one speaks after the other."""
    talk = _Talk()
    for tick in as_list(ticks):
        if is_object(tick):
            yield from talk.add(tick)
        else:
            yield from talk.rest()
    yield from talk.rest()


class _Talk:
    """What is being said."""

    def __init__(self) -> None:
        self._speaking: dict[str, _Said] = {}
        """Who speaks, in the order in which they began."""
        self._waiting: deque[_Said] = deque()
        """What is not told yet, in the order in which it began: what comes before it still goes on."""

    def add(self, tick: Raw) -> Iterator[Raw]:
        """The messages that end with this tick."""
        chunks = {who: as_object(tick.get(f"{who}_chunk")) for who in _SPEAKERS}
        heard = {who for who, chunk in chunks.items() if text_in(chunk.get("content"))}
        if heard:
            yield from self._end(*(who for who in self._speaking if who not in heard))
        for who in _SPEAKERS:
            yield from self._speaker(tick, chunks[who], who)

    def _speaker(self, tick: Raw, chunk: Raw, who: str) -> Iterator[Raw]:
        calls = objects_in(tick.get(f"{who}_tool_calls")) or objects_in(chunk.get("tool_calls"))
        facts = any(chunk.get(name) for name in _FACTS)
        if facts and who in self._speaking and self._speaking[who].facts:
            yield from self._end(who)
        if text_in(chunk.get("content")) or facts or calls:
            said = self._begun(who, tick)
            said.add(chunk)
            said.calls = calls
        if calls:
            yield from self.rest()
        for result in objects_in(tick.get(f"{who}_tool_results")):
            yield from self.rest()
            yield {"requestor": _SPEAKERS[who], **result, "role": "tool", "timestamp": None}

    def _begun(self, who: str, tick: Raw) -> _Said:
        if who not in self._speaking:
            self._speaking[who] = _Said(_SPEAKERS[who], tick)
            self._waiting.append(self._speaking[who])
        return self._speaking[who]

    def rest(self) -> Iterator[Raw]:
        """All that is being said, as far as it has come."""
        yield from self._end(*self._speaking)

    def _end(self, *speakers: str) -> Iterator[Raw]:
        for who in speakers:
            del self._speaking[who]
        going_on = {id(said) for said in self._speaking.values()}
        while self._waiting and id(self._waiting[0]) not in going_on:
            yield self._waiting.popleft().message()


class _Said:
    """One message that grows."""

    def __init__(self, role: str, tick: Raw) -> None:
        self._role = role
        self._began = tick.get("timestamp")
        self._parts: list[str] = []
        self._utterances: set[str | None] = set()
        self.facts: dict[str, object] = {}
        self.calls: list[Raw] = []

    def add(self, chunk: Raw) -> None:
        """A further piece; a space stands between two utterances."""
        text = text_in(chunk.get("content"))
        if text:
            utterances = {text_in(name) for name in as_list(chunk.get("utterance_ids"))}
            if self._utterances and utterances and self._utterances.isdisjoint(utterances):
                self._parts.append(" ")
            self._utterances = utterances
            self._parts.append(text)
        self.facts.update({name: chunk[name] for name in _FACTS if chunk.get(name)})

    def message(self) -> Raw:
        """What was said so far, with the calls that came with it."""
        return {
            **self.facts,
            "role": self._role,
            "content": "".join(self._parts) or None,
            "tool_calls": self.calls,
            "timestamp": self._began,
        }
