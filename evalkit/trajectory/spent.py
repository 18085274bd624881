"""What has a run cost at most so far?

Written beside the run while a cost limit holds, before each call with the most that it can cost and after it with what
it did cost. So a run whose process dies in the middle of a call is gone on with within its limit.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from pathlib import Path
from typing import cast

from evalkit.errors import ConfigError
from evalkit.trajectory.atomic import TEMPORARY, writing
from evalkit.trajectory.folder import open_file
from evalkit.trajectory.layout import spent_file

_MOST_BYTES = 1000


def write_spent(run: Path, usd: float) -> None:
    """Replace the amount. It survives the death of the process, not of the machine: a call is not worth waiting for
    the disk. Raises UsageError where it cannot be written.
    """
    target = spent_file(run)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{TEMPORARY}")
    with writing(run):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps({"usd_at_most": usd}) + "\n")
        temporary.replace(target)


def read_spent(run: Path) -> float:
    """Dollars; 0 where nothing was written. Raises ConfigError for what is no amount."""
    path = spent_file(run)
    if not path.exists():
        return 0.0
    with open_file(path) as source:
        text = source.read(_MOST_BYTES)
    try:
        value = cast("dict[str, object]", json.loads(text))["usd_at_most"]
    except (ValueError, LookupError, TypeError, RecursionError):
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ConfigError(
            "says no amount of dollars",
            where=str(path),
            hint="Delete it, and what the run has cost is added up from its trials.",
        )
    return float(value)
