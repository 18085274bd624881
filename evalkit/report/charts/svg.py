"""How is a drawing written down?"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from evalkit.report.charts.wording import clipped, storable

Value = str | float
LETTER = 6.8
"""The width of a column of text, in units of a drawing."""
LINE = 16.0


def element(name: str, content: str | Markup = "", /, **attributes: Value | None) -> Markup:
    """One element. `class_` is the attribute class, and `_` stands for a hyphen; None leaves an attribute out.

    Content and values are escaped; names of elements and attributes are the code's own.
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(storable(value) if isinstance(value, str) else number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = escape(content)
    written = f"<{name}{told}>{inside}</{name}>" if inside else f"<{name}{told}/>"
    return Markup(written)  # noqa: S704 - the one place where markup is made, with everything in it escaped


def number(value: float) -> str:
    """A tenth of a unit is more than an eye sees."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def group(parts: Sequence[Markup], /, **attributes: Value | None) -> Markup:
    """Several elements as one."""
    return element("g", Markup("").join(parts), **attributes)


def words(
    x: float, y: float, text: str, class_: str = "label", *, anchor: str | None = None, columns: int = 200
) -> Markup:
    """A line of text, clipped to so many columns."""
    return element("text", clipped(text, columns), x=x, y=y, class_=class_, text_anchor=anchor)


def name_words(
    at: tuple[float, float], shown: str, name: str, class_: str = "label name", anchor: str | None = None
) -> Markup:
    """A name as it is shown; whoever points at it reads all of it."""
    whole = clipped(name, 200)
    content = escape(shown) + (element("title", whole) if whole != shown else Markup(""))
    return element("text", content, x=at[0], y=at[1], class_=class_, text_anchor=anchor)


def tip(text: str) -> Markup:
    """What is shown to whoever points at it."""
    return element("title", clipped(text, 200))


def rule(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("path", d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", class_=class_)


def diamond(x: float, y: float, reach: float) -> str:
    """The path of one that stands on its tip."""
    r = number(reach)
    return f"M{number(x)} {number(y - reach)}l{r} {r}l-{r} {r}l-{r} -{r}z"


def drawing(
    key: str, title: str, description: str, size: tuple[float, float], parts: Sequence[Markup]
) -> Markup:
    """A whole drawing; `key` is unique on the page. Those that can be followed are a group, as what is in an image
    cannot be reached."""
    leads = any("<a " in part for part in parts)
    across, down = (number(side) for side in size)
    return element(
        "svg",
        Markup("").join(
            [
                element("title", title, id=f"{key}-title"),
                element("desc", description, id=f"{key}-desc"),
                *parts,
            ]
        ),
        class_=f"chart {key}",
        role="group" if leads else "img",
        aria_labelledby=f"{key}-title {key}-desc",
        viewBox=f"0 0 {across} {down}",
        width=across,
        height=down,
        xmlns="http://www.w3.org/2000/svg",
    )
