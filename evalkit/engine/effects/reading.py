"""How are some files' contents read out of a sandbox, as data?"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evalkit.errors import DeliverableRefused
from evalkit.sandbox.protocol import Entry, Sandbox
from evalkit.trajectory.artifacts import ArtifactStore

MAX_FILES = 5_000
"""That are read of one sandbox at one moment."""
_FEW = 2


async def read_files(
    sandbox: Sandbox, paths: Collection[str], entries: Mapping[str, Entry], *, max_bytes: int
) -> dict[str, bytes]:
    """The contents of those that are regular files in a snapshot, and no larger; what cannot be read is left out."""
    files = [
        path
        for path in paths
        if (entry := entries.get(path)) is not None and entry.kind == "file" and entry.size <= max_bytes
    ]
    return await _read(sandbox, files, max_bytes) if files else {}


async def _read(sandbox: Sandbox, files: Sequence[str], max_bytes: int) -> dict[str, bytes]:
    if len(files) <= _FEW:
        return await _one_by_one(sandbox, files, max_bytes)
    try:
        return await _taken_out(sandbox, files)
    except DeliverableRefused:  # such as one with a second name elsewhere
        half = len(files) // 2
        first = await _read(sandbox, files[:half], max_bytes)
        return {**first, **await _read(sandbox, files[half:], max_bytes)}


async def _taken_out(sandbox: Sandbox, files: Sequence[str]) -> dict[str, bytes]:
    """All at once, which spares docker a call for each."""
    with tempfile.TemporaryDirectory(prefix="evalkit-effects-") as folder:
        store = ArtifactStore(Path(folder) / "files")
        found: dict[str, bytes] = {}
        for one in await sandbox.export(files, store):
            if one.kind == "file" and one.digest is not None:
                with store.open(one.digest) as source:
                    found[one.path] = source.read()
        return found


async def _one_by_one(sandbox: Sandbox, files: Sequence[str], max_bytes: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in files:
        try:
            found[path] = await sandbox.read_file(path, max_bytes=max_bytes)
        except OSError:  # it is gone, or something else by now
            continue
    return found
