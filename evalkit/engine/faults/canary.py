"""By which value can a silent fault's spread be traced?

A canary is made from the ids of the task and the fault, so it is the same in every trial and in no other task.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SYLLABLES = 4
_DIGITS = 5
"""At least, so that no ordinary number is taken for one."""

_NUMBER = re.compile(r"([-+]?)([0-9]+(?:,[0-9]{3})*)(?:([.,])([0-9]+))?([eE][-+]?[0-9]+)?")


def word(task_id: str, fault_id: str, within: str = "") -> str:
    """A word that is nobody's, and does not occur `within`."""
    for attempt, digest in enumerate(_digests(task_id, fault_id)):
        pairs = zip(digest[::2], digest[1::2], strict=False)
        made = "".join(
            _CONSONANTS[first % len(_CONSONANTS)] + _VOWELS[second % len(_VOWELS)]
            for first, second in itertools.islice(pairs, _SYLLABLES + attempt // 8)
        )
        if made not in within.lower():
            return made
    raise AssertionError("digests never end")


def like(value: str, task_id: str, fault_id: str, within: str) -> str:
    """A number of the same form for a number (sign, thousands, decimals, exponent, leading zero), else a word; not to
    be found `within`.
    """
    number = _NUMBER.fullmatch(value)
    if number is None:
        return word(task_id, fault_id, within)
    sign, before, point, after, exponent = (part or "" for part in number.groups())
    whole, decimals = max(_DIGITS, len(traced(before))), len(after)
    zero = "0" if len(before) > 1 and before.startswith("0") else ""
    for attempt, digest in enumerate(_digests(task_id, fault_id)):
        whole += attempt % 8 == 7  # a text may hold every number of this length
        digits = zero + str(int.from_bytes(digest))
        digits = (digits * (1 + (whole + decimals) // len(digits)))[: whole + decimals]
        if digits[:whole] in within or digits[:whole] in traced(within):
            continue
        made = f"{int(digits[:whole]):,}" if "," in before else digits[:whole]
        return f"{sign}{made}{point}{digits[whole:]}{exponent}"
    raise AssertionError("digests never end")


def traced(shown: str) -> str:
    """By what a canary is looked for: whoever goes on with a number leaves the commas between its thousands out."""
    return re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", shown)


def _digests(task_id: str, fault_id: str) -> Iterator[bytes]:
    for attempt in itertools.count():
        yield hashlib.sha256(f"{task_id}\0{fault_id}\0{attempt}".encode()).digest()
