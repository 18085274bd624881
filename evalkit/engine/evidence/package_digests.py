"""Does a package list a file as it is?

dpkg's `md5sums` and configuration files, and pip's RECORD. They are written inside, so they excuse at most: everybody
who lists the file must give its digest, and pip lists no interpreter.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
from collections.abc import Mapping

from evalkit.engine.effects.watched import STATUS

_MERGED = re.compile(r"(?:s?bin|lib(?:32|64|x32)?)/")
_CONFIGURATION = re.compile(r"^ (/\S+) ([0-9a-f]{32})(?: obsolete)?$", re.MULTILINE)


class PackageDigests:
    """What all lists of packages say, as digests by path."""

    def __init__(self, lists: Mapping[str, bytes]) -> None:
        self._debian: dict[str, set[str]] = {}
        self._python: dict[str, set[str]] = {}
        for path, content in lists.items():
            text = content.decode("utf-8", "surrogateescape")
            if path.endswith("/RECORD"):
                self._read_record(posixpath.dirname(posixpath.dirname(path)), text)
            elif path == STATUS:
                for found in _CONFIGURATION.finditer(text):
                    self._debian.setdefault(found[1], set()).add(found[2])
            elif path.endswith(".md5sums"):
                self._read_sums(text)

    def attest(self, path: str, content: bytes) -> bool:
        """Whether a package lists it with this content."""
        if path in self._debian:
            return self._debian[path] == {hashlib.md5(content, usedforsecurity=False).hexdigest()}
        if posixpath.basename(path).startswith("python"):
            return False
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return digest in self._python.get(path, ())

    def _read_sums(self, text: str) -> None:
        for line in text.split("\n"):
            digest, _, name = line.partition("  ")
            if name:
                self._debian.setdefault(f"/{name}", set()).add(digest)
                if _MERGED.match(name):
                    self._debian.setdefault(f"/usr/{name}", set()).add(digest)

    def _read_record(self, site: str, text: str) -> None:
        for line in text.split("\n"):
            name, _, rest = line.rpartition(",")[0].rpartition(",")
            name, kind = name.strip('"'), rest.partition("=")
            if name and kind[0] == "sha256":
                self._python.setdefault(posixpath.normpath(f"{site}/{name}"), set()).add(kind[2])
