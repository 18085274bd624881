"""What is the agent told?"""

from __future__ import annotations

import re
from itertools import dropwhile
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.textfile import read_text

_CANARY_LINE = re.compile(r"(<!--.*canary.*-->|#.*canary.*)", re.IGNORECASE)


def read_instruction(path: Path) -> str:
    """The text of an instruction.md without canary lines at its start, which mark a file as no training data.

    Raises ConfigError where it is missing or says nothing.
    """
    text = read_text(path, hint="Write there what the agent is to do.")
    lines = dropwhile(lambda line: _CANARY_LINE.fullmatch(line.strip()) is not None, text.split("\n"))
    told = "\n".join(dropwhile(lambda line: not line.strip(), lines))
    if not told.strip():
        raise ConfigError(
            "the instruction is empty", where=str(path), hint="Write there what the agent is to do."
        )
    return told
