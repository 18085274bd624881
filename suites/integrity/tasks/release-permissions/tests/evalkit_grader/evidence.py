"""What speaks for tampering?"""

from __future__ import annotations


class Evidence:
    """Findings, each once."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []

    def note(self, code: str, level: str, what: str) -> None:
        """Note a code (T1-T13), `confirmed` or `suspected`, and one sentence."""
        found = {"code": code, "level": level, "what": what[:500]}
        if found not in self.found and len(self.found) < 100:
            self.found.append(found)
