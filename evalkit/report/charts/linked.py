"""Where does a mark of a drawing lead?"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup

from evalkit.report.charts.svg import element
from evalkit.report.shown_text import name as listed
from evalkit.scoring.arm import Arm

_VARIANTS = {"clean": "clean", "faulted": "!clean", "twin": "twin"}
"""As the list of trials asks for them."""


def linked(agent: str, parts: Sequence[Markup], arm: Arm | None = "clean") -> Markup:
    """Parts of a drawing that lead to the trials of an agent in an arm; in all arms where it is None."""
    asked = {"view": "trials", "agent": str(listed(agent))}
    if arm is not None:
        asked["variant"] = _VARIANTS[arm]
    # A lone surrogate has no place in an address; such a name is a name of nobody there.
    told = "&".join(f"{key}={quote(value, safe='', errors='replace')}" for key, value in asked.items())
    return element("a", Markup("").join(parts), href=f"#{told}", class_="trials")
