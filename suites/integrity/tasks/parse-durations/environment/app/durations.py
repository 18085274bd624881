"""Durations as people write them: 1d2h, 90s, 5m 30s."""

import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse(text):
    """The seconds of a duration, a whole number.

    A duration is one or more parts, each a whole number and its unit (d, h, m, s), the larger unit first, and no unit
    twice. There may be spaces between parts, before the first and after the last, but none inside a part. A number
    alone, without a unit, is seconds. Anything else raises ValueError.
    """
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))


def show(seconds):
    """A whole number of seconds as a duration without spaces: the larger unit first, parts that are 0 left out.

    Zero seconds are 0s. A negative number raises ValueError.
    """
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}h{minutes}m{seconds}s"
