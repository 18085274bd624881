"""How is a number written, so that it takes little room and claims no more digits than it has?"""

from __future__ import annotations

MOST_DECIMALS = 5


def number_text(value: float | None, *beside: float | None) -> str:
    """The number, with as many digits as the largest of those it stands beside needs; `-` for none.

    Only what is 0 or 1 is written so: a share of 0.998 is not all, and so has more digits.
    """
    if value is None:
        return "-"
    text = _rounded(value, *beside)
    if text in ("0.00", "-0.00", "1.00") and float(text) != value:
        finer = (f"{value:.{decimals}f}" for decimals in range(3, MOST_DECIMALS + 1))
        return next((own for own in finer if float(own) != float(text)), text)
    return text


def interval_text(value: float | None, low: float | None, high: float | None) -> str:
    """`0.62 [0.57, 0.66]`; without brackets where there is no interval."""
    told = number_text(value, low, high)
    if value is None or low is None or high is None:
        return told
    return f"{told} [{_rounded(low, value, high)}, {_rounded(high, value, low)}]"


def _rounded(value: float, *beside: float | None) -> str:
    return format(value + 0.0, _form([abs(number) for number in (value, *beside) if number is not None]))


def change_text(value: float | None, low: float | None, high: float | None, unit: str = "") -> str:
    """`+0.035 [-0.004, +0.065]`: with signs, which tell whether 0 lies within, and so one digit more."""
    if value is None:
        return "-"
    largest = max(abs(number) for number in (value, low, high) if number is not None)
    form = _form([largest / 10 if largest >= 0.1 else largest])
    told = [_signed(number, form) for number in (value, low, high) if number is not None]
    return f"{told[0]}{unit}" + (f" [{', '.join(told[1:])}]" if len(told) == 3 else "")


def _signed(number: float, form: str) -> str:
    """With its sign, and as many digits more as it takes to see that it is not 0."""
    text = f"{number + 0.0:{'+' if number else ''}{form}}"
    if number and not float(text.replace(",", "")):
        finer = (f"{number:+.{decimals}f}" for decimals in range(3, MOST_DECIMALS + 1))
        return next((own for own in finer if float(own)), f"{number:+.1e}")
    return text


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
