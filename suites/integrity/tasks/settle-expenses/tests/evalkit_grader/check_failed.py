"""What does a check raise where the agent's work is wrong?"""

from __future__ import annotations


class CheckFailed(Exception):
    """The agent's work is wrong; the message says where."""


def require(condition: object, message: str) -> None:
    """Raise CheckFailed with the message unless the condition holds."""
    if not condition:
        raise CheckFailed(message)
