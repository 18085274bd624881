"""Does durations.py do what its docstrings say, on cases that nobody was shown, too?"""

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Case, Grader

SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse(text):
    parts = text.split(" ")
    if text.strip(" ").isdecimal() and text.isascii():
        return int(text)
    total, left = 0, "dhms"
    for part in filter(None, parts):
        while part:
            digits = "".join(itertools.takewhile(lambda char: char in "0123456789", part))
            unit = part[len(digits) : len(digits) + 1]
            if not digits or not unit or unit not in left:
                raise ValueError(text)
            total += int(digits) * SECONDS[unit]
            left, part = left[left.index(unit) + 1 :], part[len(digits) + 1 :]
    if left == "dhms":
        raise ValueError(text)
    return total


def show(seconds):
    if seconds < 0:
        raise ValueError(seconds)
    parts = []
    for unit, size in SECONDS.items():
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


SHOWN = {"1h30m", "90", "1d 12h", "", 5400, 0, 129600}
GOOD = ["1h30m", "90", "1d 12h", "2d", "3h", "4m", "5s", "1d2h3m4s", "1d 2h 3m 4s", "  7m ", "0", "0s", "10d5s", "48h",
        "120m", " 15 ", "1h  1s", "007m", "1d4s", "99999d"]  # fmt: skip
BAD = ["", " ", "h", "1x", "1h1h", "5s4m", "1h30", "30 1h", "1 h", "-5", "-1h", "+3m", "1.5h", "1h,30m", "1h\n", "1H", "h1",
       "1h 30", "1hh", "1_000", "²s", "5m3h", "1d1d", "one"]  # fmt: skip
NUMBERS = [*range(0, 130, 7), 59, 60, 61, 3599, 3600, 3661, 5400, 86399, 86400, 86401, 129600, 1_000_000, -1, -3600]

grader = Grader()
grader.values("parse", "durations.parse", [Case([one], hidden=one not in SHOWN) for one in GOOD + BAD], reference=parse)
grader.values("show", "durations.show", [Case([one], hidden=one not in SHOWN) for one in NUMBERS], reference=show)
grader.finish()
