"""Draw demo.svg, what README shows: a real run of `core` and the first steps of one of its trials."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 100
RUN = "evalkit run core --model scripted/oracle,scripted/nop"
SHOW = "evalkit show latest fix-off-by-one.oracle"
STEPS = ("  4 think", "  6 think")
"""The first and the first left out of the steps that are shown."""


def said(command: str, folder: Path) -> str:
    """What a command prints, in colour. Raises CalledProcessError where it fails."""
    words = [sys.executable, "-m", *command.split()]
    env = {**os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.rstrip("\n")


def plain(line: str) -> str:
    """A line without its colours."""
    return Text.from_ansi(line).plain


def excerpt(timeline: str) -> str:
    """The trial's head and some of its steps, lines cut to the width of the picture."""
    lines = timeline.split("\n")
    start, end = (next(n for n, line in enumerate(lines) if plain(line).startswith(step)) for step in STEPS)
    shown = [*lines[:4], "", *lines[start:end]]
    return "\n".join("" if not plain(line).strip() else line for line in shown)


def main() -> None:
    """Run it in a temporary folder and draw what was said."""
    with tempfile.TemporaryDirectory() as scratch:
        table = said(RUN, Path(scratch))
        timeline = said(SHOW, Path(scratch))
    console = Console(
        record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for number, (command, output) in enumerate(((RUN, table), (SHOW, excerpt(timeline)))):
        console.print(Text(f"{'' if number == 0 else chr(10)}$ {command}", style="bold"))
        for line in output.split("\n"):
            console.print(Text.from_ansi(line), no_wrap=True, overflow="ellipsis", crop=True)
    drawn = console.export_svg(title="evalkit", unique_id="evalkit")
    # Nothing is fetched from elsewhere: the reader's own monospaced font will do.
    drawn = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    # Some renderers drop spaces at the beginning of a piece of text unless they are told not to.
    PICTURE.write_text(drawn.replace("<text ", '<text xml:space="preserve" '), "utf-8")


if __name__ == "__main__":
    main()
