"""Which trials does a page show step by step, and how do they get into it?

A single file holds what fits, the most urgent first; a folder holds all of them. Either way a run is read trial by
trial, and memory holds no more than what goes into the page.
"""

from __future__ import annotations

import bisect
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.report.block import blocks, compact_json
from evalkit.report.listed_trial import ListedTrial, Note, index_columns, listed_trials
from evalkit.report.trial_json import has_lost_steps, trial_json
from evalkit.scoring.facts import Facts
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.trial import Trial
from evalkit.trajectory.reader import Run

Runs = Sequence[tuple[str, Run]]
MOST_BYTES = 5_000_000
SHARD_FOLDER = "trials"
_SHARES = 32 * 1024
"""Bytes of earlier trials that one is compressed against, as far as gzip looks back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """The trials of a report."""

    index: Mapping[str, list[object]]
    """One light row for every trial, by column; `shard` is the number of the block with its steps, or None."""
    blocks: tuple[str, ...] = ()
    """Of trials with their steps, each a base64 text; none where they are in files."""
    left_out: Mapping[Note, int] = field(default_factory=dict[Note, int])
    """How many have no steps in the page, by what is notable about them."""
    lost: int = 0
    """How many are in the page without steps, as these are missing in the record."""

    @property
    def trials(self) -> int:
        return len(self.index["id"])

    @property
    def with_steps(self) -> int:
        return self.trials - sum(self.left_out.values()) - self.lost


def chosen(runs: Runs, scored: ScoredTrials, *, most_bytes: int = MOST_BYTES) -> Trajectories:
    """For a single file: the most urgent trials in at most so many bytes of base64.

    Trials with confirmed tampering come first, then failed ones, unscored ones, and those that left a failure
    open under a fault, then a sample of the others. The same run gives the same choice.
    """
    listed = listed_trials(runs, scored)
    best = _Best(2 * most_bytes)  # how well they compress together is known only when they are put together
    lost: set[int] = set()
    for place, text in _encoded(runs, listed, lost, wanted=best.may_take):
        best.offer(listed[place], text)
    packed, size = _packed(best)
    while size > most_bytes:
        best.shrink(most_bytes / size)
        packed, size = _packed(best)
    shards: list[int | None] = [None] * len(listed)
    for number, (places, _) in enumerate(packed):
        for place in places:
            shards[place] = number
    left_out = Counter[Note](one.note for one in listed if shards[one.place] is None)
    return Trajectories(
        index=index_columns(listed, shards, runs, lost),
        blocks=tuple(text for _, text in packed),
        left_out=left_out,
        lost=sum(shards[place] is not None for place in lost),
    )


def write_shards(folder: Path, runs: Runs, scored: ScoredTrials) -> Trajectories:
    """For a folder: every trial, in files `trials/NNNN.js` that a page loads when it needs them.

    They are scripts because a page from disk may load nothing else; each only hands over one base64 text. Shards that
    are left from an earlier, larger report are deleted.
    """
    target = folder / SHARD_FOLDER
    target.mkdir(parents=True, exist_ok=True)
    listed = listed_trials(runs, scored)
    shards: list[int | None] = [None] * len(listed)
    lost: set[int] = set()
    for number, (places, text) in enumerate(blocks(_encoded(runs, listed, lost, wanted=lambda _: True))):
        (target / shard_name(number)).write_text(f'evalkit.shard({number}, "{text}");\n', encoding="ascii")
        for place in places:
            shards[place] = number
    held = {shard_name(number) for number in shards if number is not None}
    for path in target.glob("*.js"):
        if path.stem.isdecimal() and path.name not in held:
            path.unlink()
    return Trajectories(index=index_columns(listed, shards, runs, lost), lost=len(lost))


def shard_name(number: int) -> str:
    return f"{number:04d}.js"


def _encoded(
    runs: Runs, listed: Sequence[ListedTrial], lost: set[int], *, wanted: Callable[[ListedTrial], bool]
) -> Iterator[tuple[int, bytes]]:
    """The JSON of each wanted trial with its place, run after run in the order of ids.

    The places of trials whose steps are missing in the record are added to `lost`, of all trials.
    """
    own: list[dict[str, ListedTrial]] = [{} for _ in runs]
    for one in listed:
        own[one.run][one.trial_id] = one
    for (run_name, run), of_run in zip(runs, own, strict=True):
        facts, scores = Facts(run.manifest), run.scores_by_trial()
        for row, steps, effects in run.iter_whole():
            one = of_run[row.trial_id]
            if has_lost_steps(row, len(steps)):
                lost.add(one.place)
            if wanted(one):
                trial = Trial(row, steps, effects, task=facts.of(row.suite, row.task_id))
                encoded = trial_json(
                    trial, scores(row.trial_id), key=one.key, entrant=one.light.agent, run=run_name
                )
                yield one.place, compact_json(encoded)


def _packed(best: _Best) -> tuple[list[tuple[list[int], str]], int]:
    packed = list(blocks(best.texts()))
    return packed, sum(len(text) for _, text in packed)


class _Best:
    """The most urgent trials that fit into about so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: list[tuple[tuple[int, bytes], int]] = []
        """Urgency and place, in this order."""
        self._texts: dict[int, tuple[bytes, bytes]] = {}
        """By place, compressed, with the bytes that it was compressed against."""
        self._size = 0
        self._closed: tuple[int, bytes] | None = None
        """The most urgent one that did not fit: nothing after it is taken, or the choice would be by size."""
        self._shared = b""

    def may_take(self, one: ListedTrial) -> bool:
        return self._closed is None or one.urgency < self._closed

    def offer(self, one: ListedTrial, text: bytes) -> None:
        compressor = zlib.compressobj(9, zdict=self._shared) if self._shared else zlib.compressobj(9)
        compressed = compressor.compress(text) + compressor.flush()
        self._texts[one.place] = (compressed, self._shared)
        bisect.insort(self._kept, (one.urgency, one.place))
        self._size += len(compressed) * 4 // 3
        if len(self._shared) < _SHARES:
            self._shared = (self._shared + text)[-_SHARES:]
        self._drop(self._most)

    def shrink(self, share: float) -> None:
        """Keep about this share of the bytes, and at least one trial less."""
        self._drop(min(int(self._size * share * 0.98), self._size - 1))

    def texts(self) -> Iterable[tuple[int, bytes]]:
        """The JSON of each with its place, in the order of places, so that what is alike stands together."""
        for place in sorted(self._texts):
            compressed, shared = self._texts[place]
            opened = zlib.decompressobj(zdict=shared) if shared else zlib.decompressobj()
            yield place, opened.decompress(compressed) + opened.flush()

    def _drop(self, most_bytes: int) -> None:
        while self._kept and self._size > most_bytes:
            self._closed, place = self._kept.pop()
            self._size -= len(self._texts.pop(place)[0]) * 4 // 3
