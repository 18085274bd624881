"""What does a provider's response say? One file a dialect."""

from __future__ import annotations

from evalkit.models.wire.sniff import read, read_object

__all__ = ["read", "read_object"]
