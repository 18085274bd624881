"""How is a verdict told in a comment on a pull request?

In sections, from the most to the least important. What does not fit is left out in whole sections, and a line says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence

from evalkit.gate.markdown_sections import ICONS, Section, sections
from evalkit.gate.markdown_text import command, prose
from evalkit.gate.rerun import rerun
from evalkit.gate.verdict import Verdict

COMMENT_BYTES = 65_000
"""GitHub takes 65,536 characters; in UTF-8 there are never fewer bytes than characters, and a bot may add a line."""
LEAST_BYTES = 16_384
"""What is never left out fits into these."""


def as_markdown(
    verdict: Verdict, *, strict: bool, key: str | None = None, most_bytes: int = COMMENT_BYTES
) -> str:
    """The verdict as Markdown of at most so many bytes in UTF-8, which are `LEAST_BYTES` or more.

    It begins with a hidden key, by which the comment is found again and updated: `comment_key` where none is given.
    """
    head = f"<!-- evalkit-gate: {_safe_key(key) if key else comment_key(verdict)} -->\n{_head(verdict)}"
    again = f"To see this on your own machine:\n\n{command(rerun(verdict, strict=strict))}"
    room = most_bytes - _size(head, again) - 1
    found = list(sections(verdict))
    room -= _size(_left_out(found))
    kept: list[str] = []
    left: list[Section] = []
    for section in found:
        size = _size(section.text)
        if size <= room:
            kept.append(section.text)
            room -= size
        else:
            left.append(section)
    return "\n\n".join([head, *kept, *([_left_out(left)] if left else []), again]) + "\n"


def comment_key(verdict: Verdict) -> str:
    """The same for gates of the same baseline and policy, whatever their verdicts."""
    what = json.dumps([verdict.policy.source, verdict.baseline.name])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def _safe_key(key: str) -> str:
    """What cannot end the comment that holds it."""
    return re.sub(r"[^A-Za-z0-9._/]+", "-", key)[:100]


def _size(*texts: str) -> int:
    """With the empty line that follows each."""
    return sum(len(text.encode()) + 2 for text in texts)


def _left_out(left: Sequence[Section]) -> str:
    counts = Counter(section.kind for section in left)
    told = ", ".join(f"{kind} ({count})" if count > 1 else kind for kind, count in counts.items())
    return f"_Left out, as this would be too long: {told}._"


def _head(verdict: Verdict) -> str:
    return f"## {ICONS[verdict.outcome]} {prose(verdict.headline)}\n\n{prose(verdict.advice)}"
