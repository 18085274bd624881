#!/bin/sh
# step: Every function does what its docstring says.
cat > /app/durations.py <<'PY'
"""Durations in seconds, and how people write them."""

import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse(text):
    """Seconds of a duration such as "1h30m", "45s" or "2d". An empty text is 0."""
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))


def render(seconds):
    """A duration as people write it, largest unit first and without zero parts; 0 is "0s"."""
    parts = []
    for unit, size in UNITS.items():
        if seconds >= size:
            parts.append(f"{seconds // size}{unit}")
            seconds %= size
    return "".join(parts) or "0s"


def overlap(first, second):
    """How many seconds two spans (begin, end) have in common."""
    return max(0, min(first[1], second[1]) - max(first[0], second[0]))
PY
