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
    """A number with as many decimals for a number, else a word; not to be found `within`."""
    number = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?", value)
    if number is None:
        return word(task_id, fault_id, within)
    whole, decimals = max(_DIGITS, len(number[2])), len(number[3] or "")
    for attempt, digest in enumerate(_digests(task_id, fault_id)):
        whole += attempt % 8 == 7  # a text may hold every number of this length
        digits = str(int.from_bytes(digest))
        digits = (digits * (1 + (whole + decimals) // len(digits)))[: whole + decimals]
        made = f"{digits[:whole]}.{digits[whole:]}" if decimals else digits
        if digits[:whole] not in within:
            return number[1] + made
    raise AssertionError("digests never end")


def _digests(task_id: str, fault_id: str) -> Iterator[bytes]:
    for attempt in itertools.count():
        yield hashlib.sha256(f"{task_id}\0{fault_id}\0{attempt}".encode()).digest()
