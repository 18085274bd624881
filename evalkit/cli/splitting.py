"""What does a value that may be a list, separated by commas, consist of?"""

from __future__ import annotations

from evalkit.errors import UsageError


def split(values: list[str] | None, what: str) -> tuple[str, ...]:
    """The parts of comma-separated values. An empty one is a mistake, such as a variable that is not set."""
    parts = tuple(part.strip() for value in values or () for part in value.split(","))
    if not all(parts):
        raise UsageError(f"{what} is empty", hint=f"Leave {what} out, or name something.")
    return parts
