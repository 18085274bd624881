"""How is a number written, so that it takes little room and claims no more digits than it has?"""

from __future__ import annotations


def number_text(value: float | None, *beside: float | None, signed: bool = False) -> str:
    """The number; with as many digits as the largest of those it stands beside needs. `-` for none."""
    if value is None:
        return "-"
    form = _form([abs(number) for number in (value, *beside) if number is not None])
    text = format(value, f"{'+' if signed else ''}{form}")
    return text.replace("-", "", 1) if text.startswith("-") and not float(text.replace(",", "")) else text


def interval_text(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`0.62 [0.57, 0.66]`; without brackets where there is no interval."""
    told = number_text(value, low, high, signed=signed)
    if value is None or low is None or high is None:
        return told
    ends = (number_text(end, value, low, high, signed=signed) for end in (low, high))
    return f"{told} [{', '.join(ends)}]"


def _form(sizes: list[float]) -> str:
    largest = max(sizes)
    if largest == 0:
        return ".2f"
    if largest >= 1e9 or largest < 1e-4:
        return ".2e"
    for least, form in ((100, ",.0f"), (10, ".1f"), (0.1, ".2f"), (0.01, ".3f"), (0.001, ".4f")):
        if largest >= least:
            return form
    return ".5f"
