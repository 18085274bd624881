"""How are names, places and marks written in SARIF?"""

from __future__ import annotations

import hashlib
import json
from urllib.parse import quote

from evalkit.gate.hostile_text import one_line


def task_uri(task: str) -> str:
    """`suite/task` as a relative reference that leads nowhere above; a variant is no part of it."""
    name, bracket, _ = task.rpartition(" [")
    path = name if bracket and task.endswith("]") else task
    segments = [quote(one_line(segment), safe="") for segment in path.split("/") if segment]
    return "/".join("_" * len(segment) if set(segment) == {"."} else segment for segment in segments) or "_"


def plain(text: str) -> str:
    """A text for a message: brackets would make links in it, and braces places for arguments (SARIF 2.1.0, 3.11.5 and
    3.11.6).
    """
    text = text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    return text.replace("[", "\\[").replace("]", "\\]")


def fingerprint(*parts: str) -> str:
    """The same for the same parts in every run."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
