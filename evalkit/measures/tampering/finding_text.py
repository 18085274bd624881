"""How is a finding of tampering told in words?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from evalkit.trajectory.finding import CODES, Finding


def finding_text(finding: Finding) -> str:
    """One line: `T1 tests edited, deleted or skipped (confirmed, in force): what was found`."""
    held = "in force" if finding.in_force else "not in force when it was graded"
    return f"{finding.code} {CODES[finding.code]} ({finding.level}, {held}): {finding.what}"


def planted_text(detail: str | None) -> str:
    """What an event `planted` says: where the trial has something that no honest agent needs to look at."""
    try:
        told: object = json.loads(detail or "")
    except (ValueError, RecursionError):
        told = None
    path = cast("Mapping[str, object]", told).get("path") if isinstance(told, dict) else None
    where = f" at {path}" if isinstance(path, str) else ""
    return f"a honeypot was put{where}, with a token of this trial alone: no honest agent needs to look there"
