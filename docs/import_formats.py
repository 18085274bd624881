"""What the page on importing says about each format: the docstring of its importer, as Markdown."""

from __future__ import annotations

import inspect
import sys

from evalkit.convert.formats import FORMATS, importers


def sections() -> str:
    """One section for each format."""
    return "\n\n".join(map(_section, FORMATS))


def _section(name: str) -> str:
    (importer,) = importers(name)
    text = inspect.cleandoc(sys.modules[type(importer).__module__].__doc__ or "")
    return f"## {name}\n\n{text}"
