"""Where are files kept that a trial delivered, so that it can be graded again?"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO

from evalkit.trajectory.atomic import writing
from evalkit.trajectory.folder import check_folder, open_file, opened

_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1024 * 1024


class ArtifactStore:
    """Files by the sha256 of their content, under one folder. Equal contents are kept once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, digest: str) -> Path:
        """Where content with this digest is kept. Raises ValueError for what is no sha256 in hex."""
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"not a sha256 digest: {digest!r}")
        return self.root / digest[:2] / digest[2:]

    def put(self, source: BinaryIO) -> tuple[str, int]:
        """Keep everything that `source` still holds; returns its digest and size in bytes.

        The file appears under its name only once it is whole. Raises UsageError where a folder is a link, and
        where the disk does not take it; what reading `source` raises is raised as it is.
        """
        digest, size = hashlib.sha256(), 0
        handle, temporary = self._begin()
        try:
            with os.fdopen(handle, "wb", buffering=0) as out:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    self._write(out, chunk)
            with writing(self.root.parent):
                target = self.path(digest.hexdigest())
                check_folder(target.parent)
                target.parent.mkdir(exist_ok=True)
                temporary.replace(target)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        return digest.hexdigest(), size

    def open(self, digest: str) -> BinaryIO:
        """Open kept content for reading. Raises FileNotFoundError where it is not kept, UsageError for a link."""
        path = self.path(digest)
        check_folder(self.root)
        with opened(path.parent) as folder:
            return open_file(path, folder)

    def _begin(self) -> tuple[int, Path]:
        """A new file without a name that counts."""
        with writing(self.root.parent):
            check_folder(self.root)
            self.root.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".part-", dir=self.root)
        return handle, Path(name)

    def _write(self, out: RawIOBase, data: bytes) -> None:
        rest = memoryview(data)
        with writing(self.root.parent):
            while rest:
                rest = rest[out.write(rest) or 0 :]
