"""What do Inspect's words mean in the record's own?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.trajectory.step import ErrorKind

ERROR_KINDS: Mapping[str, ErrorKind] = {
    "parsing": "parsing",
    "timeout": "timeout",
    "permission": "permission",
    "file_not_found": "not_found",
    "approval": "denied",
    "limit": "limit",
    "output_limit": "limit",
    "sandbox_unavailable": "sandbox",
}
"""The types of a tool call's error; every other is unknown."""
