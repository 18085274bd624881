"""How does a share with its interval look in a table's cell?"""

from __future__ import annotations

from markupsafe import Markup

from evalkit.report.charts.axis import share_axis
from evalkit.report.charts.svg import element, number

_WIDTH, _HEIGHT = 84.0, 12.0


def interval_bar(value: float | None, low: float | None, high: float | None) -> Markup:
    """A track from 0 to 1, the interval on it and the value as a point; nothing for no value, or one that is no share.

    The number stands beside it, so it is hidden from whoever listens to the page.
    """
    if value is None or not 0 <= value <= 1:
        return Markup("")
    axis, middle = share_axis(4, _WIDTH - 4), _HEIGHT / 2
    parts = [element("rect", x=4.0, y=middle - 1, width=_WIDTH - 8, height=2.0, class_="track")]
    if low is not None and high is not None:
        left, right = axis.at(low), axis.at(high)
        parts.append(
            element(
                "rect",
                x=left,
                y=middle - 3,
                width=max(right - left, 1.0),
                height=6.0,
                rx=2.0,
                class_="interval",
            )
        )
    parts.append(element("circle", cx=axis.at(value), cy=middle, r=3.5, class_="point"))
    return element(
        "svg",
        Markup("").join(parts),
        class_="bar",
        viewBox=f"0 0 {number(_WIDTH)} {number(_HEIGHT)}",
        width=_WIDTH,
        height=_HEIGHT,
        aria_hidden="true",
        focusable="false",
    )
