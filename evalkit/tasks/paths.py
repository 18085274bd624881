"""Which texts are acceptable as paths inside a sandbox?"""

from __future__ import annotations

import posixpath


def absolute_path(text: str) -> str:
    """A normalised absolute path. Raises ValueError for relative paths, `..` and control characters."""
    if not text.startswith("/"):
        raise ValueError(f"{text!r} should be an absolute path")
    return _normalised(text)


def inside(folder: str, text: str) -> str:
    """`text`, seen from `folder`, as a normalised absolute path. Raises as `absolute_path` does."""
    return _normalised(text if text.startswith("/") else f"{folder}/{text}")


def plain_path(text: str) -> str:
    """The path as it is. Raises ValueError where it is empty or holds `..` or control characters."""
    if not text:
        raise ValueError("a path should not be empty")
    if ".." in text.split("/"):
        raise ValueError(f"{text!r} should not contain '..'")
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise ValueError(f"{text!r} should not contain control characters")
    return text


def _normalised(text: str) -> str:
    plain_path(text)
    return "/" + posixpath.normpath(text).lstrip("/")
