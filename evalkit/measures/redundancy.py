"""How much does thinking repeat itself, and change its mind?

About thinking that can be read as it was; a summary is another model's text and says nothing of this.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence

from evalkit.trajectory.step import Think

SHINGLE = 5
"""Words."""
GRAM = 4
"""Words."""
LOOKS_BACK = 64
"""How many earlier generations each is compared with."""
LEAST_CHARS = 100
"""Shorter texts say nothing by how well they compress."""
_WORD = re.compile(r"\w+")
_SWITCH = re.compile(
    r"\b(?:wait|hmm+|alternatively|actually|on second thought|on reflection|scratch that|never ?mind|hold on"
    r"|let me (?:reconsider|rethink|re-?think|try (?:another|a different)|start over)"
    r"|(?:another|a different) (?:approach|way|idea)|that(?:'s| is) (?:not right|wrong)|maybe i should)\b",
    re.IGNORECASE,
)
"""Words by which somebody says that they change their mind."""


def visible_thinking(thinks: Iterable[Think], visibility: str | None) -> tuple[tuple[int, str], ...]:
    """The thinking of each generation that shows it in full, by step.

    `visibility` is the trial's, and holds for generations that say nothing of their own.
    """
    return tuple(
        (think.step, think.reasoning)
        for think in thinks
        if think.reasoning and (think.reasoning_visibility or visibility) == "full"
    )


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def repeated_grams(texts: Iterable[Sequence[str]]) -> float | None:
    """The share of 4-grams of words that were there before, in [0, 1); none spans two texts. None without any."""
    grams: set[tuple[str, ...]] = set()
    total = 0
    for words in texts:
        total += max(0, len(words) - GRAM + 1)
        grams.update(zip(*(words[start:] for start in range(GRAM)), strict=False))
    return 1 - len(grams) / total if total else None


def zlib_ratio(texts: Iterable[str]) -> float | None:
    """Compressed / plain bytes, above 0; little where much is repeated. None below 100 characters."""
    plain = "\n".join(texts)
    if len(plain) < LEAST_CHARS:
        return None
    data = plain.encode("utf-8", "replace")
    return len(zlib.compress(data)) / len(data)


def highest_overlap(texts: Iterable[tuple[int, Sequence[str]]]) -> tuple[float, tuple[int, ...]] | None:
    """The highest Jaccard overlap of one generation's 5-gram shingles with an earlier one's, and their two steps.

    Each is compared with the 64 before it. None where fewer than two are long enough to have shingles.
    """
    kept: deque[tuple[int, frozenset[int]]] = deque()
    holding: defaultdict[int, list[int]] = defaultdict(list)
    sizes: dict[int, int] = {}
    best: tuple[float, tuple[int, ...]] | None = None
    for step, words in texts:
        own = _shingles(words)
        if not own:
            continue
        shared = Counter(earlier for shingle in own for earlier in holding.get(shingle, ()))
        if kept and best is None:
            best = (0.0, ())
        for earlier, count in shared.items():
            overlap = count / (len(own) + sizes[earlier] - count)
            if best is not None and overlap > best[0]:
                best = (overlap, (earlier, step))
        kept.append((step, own))
        sizes[step] = len(own)
        for shingle in own:
            holding[shingle].append(step)
        if len(kept) > LOOKS_BACK:
            old, gone = kept.popleft()
            for shingle in gone:
                holding[shingle].remove(old)
    return best


def switches(texts: Iterable[str]) -> int:
    """How often thinking says that it changes its mind: wait, alternatively, ..."""
    return sum(len(_SWITCH.findall(text)) for text in texts)


def _shingles(words: Sequence[str]) -> frozenset[int]:
    return frozenset(map(hash, zip(*(words[start:] for start in range(SHINGLE)), strict=False)))
