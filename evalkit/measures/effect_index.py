"""Which effects are of a resource, or of something in it?

A trial may have tens of thousands of effects and a thousand operations: most are told apart by one word of their names.
"""

from __future__ import annotations

import fnmatch
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from evalkit.trajectory.effect import Channel, Effect

_WORDS = re.compile(r"[^/:]+")
_WILD = re.compile(r"[*?\[]")
_MOST_PATTERNS = 100
"""Patterns that are looked for; each takes a look at every effect."""


class EffectIndex:
    """The effects of one trial, by the words of their resources."""

    def __init__(self, effects: Iterable[Effect]) -> None:
        self._channels: defaultdict[Channel, list[Effect]] = defaultdict(list)
        self._words: defaultdict[tuple[Channel, str], list[Effect]] = defaultdict(list)
        self._patterns = 0
        for effect in effects:
            self._channels[effect.channel].append(effect)
            for word in set(_WORDS.findall(effect.resource)):
                self._words[effect.channel, word].append(effect)

    def channel(self, channel: Channel) -> Sequence[Effect]:
        """All of one channel."""
        return self._channels.get(channel, ())

    def of(self, channel: Channel, resource: str) -> Sequence[Effect]:
        """Those of a resource and of what is in it: below a folder, in a table. Of a database that is told as one file
        that file.

        A path may be a pattern; one that is relative may be anywhere.
        """
        found = self._of(channel, resource)
        if found or channel != "row":
            return found
        path = resource.removeprefix("row:").rpartition(":")[0]
        near = self._of("file", path) if path else ()
        return [one for one in near if one.change != "mode" and f"/{one.resource}".endswith(f"/{path}")]

    def _of(self, channel: Channel, resource: str) -> Sequence[Effect]:
        if resource in {".", "/", "~"}:
            return self.channel(channel)
        if _WILD.search(resource):
            self._patterns += 1
            near = self.channel(channel) if self._patterns <= _MOST_PATTERNS else ()
        else:
            words = _WORDS.findall(resource)
            near = self._words.get((channel, words[-1]), ()) if words else ()
        return [effect for effect in near if _covers(channel, resource, effect.resource)]


def _covers(channel: Channel, wanted: str, there: str) -> bool:
    if there == wanted or there.startswith((f"{wanted}/", f"{wanted}:")):
        return True
    if channel == "row" and not wanted.startswith("row:/"):
        return there.startswith("row:/") and f"/{wanted[4:]}:" in f"{there}:"
    if channel != "file":
        return False
    if wanted.startswith("~"):
        wanted = wanted[2:]
    if not wanted.startswith("/"):
        return f"/{wanted}/" in f"{there}/" or fnmatch.fnmatchcase(there, f"*/{wanted}")
    return _WILD.search(wanted) is not None and fnmatch.fnmatchcase(there, wanted)
