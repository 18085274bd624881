"""How are some files' contents read out of a sandbox, as data?"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evalkit.errors import DeliverableRefused, DeliverableTooBig
from evalkit.sandbox.protocol import Entry, Sandbox
from evalkit.trajectory.artifacts import ArtifactStore

MAX_FILES = 5_000
"""That are read of one sandbox at one moment."""
_FEW = 2
_MANY = 10
"""Files of one folder for which the whole folder is taken out, which is one call of docker's and not one for each."""
_FOLDER_BYTES = 32 * 1024 * 1024


async def read_files(
    sandbox: Sandbox, paths: Collection[str], entries: Mapping[str, Entry], *, max_bytes: int
) -> dict[str, bytes]:
    """The contents of those that are regular files in a snapshot, and no larger; what cannot be read is left out."""
    files = [
        path
        for path in paths
        if (entry := entries.get(path)) is not None and entry.kind == "file" and entry.size <= max_bytes
    ]
    found: dict[str, bytes] = {}
    for folder in _folders(files, entries):
        with contextlib.suppress(DeliverableRefused, DeliverableTooBig):  # such as for a fifo beside them
            found.update(await _taken_out(sandbox, [folder], only=frozenset(files)))
    files = [path for path in files if path not in found]
    return {**found, **await _read(sandbox, files, max_bytes)} if files else found


def _folders(files: Sequence[str], entries: Mapping[str, Entry]) -> list[str]:
    """Those that hold many of the files, and little else."""
    counted = Counter(path.rpartition("/")[0] for path in files)
    folders = [folder for folder, count in counted.items() if folder and count >= _MANY]
    if not folders:
        return []
    sizes: Counter[str] = Counter()
    for path, entry in entries.items():
        for folder in folders:
            if path.startswith(f"{folder}/"):
                sizes[folder] += entry.size
    return [folder for folder in folders if sizes[folder] <= _FOLDER_BYTES]


async def _read(sandbox: Sandbox, files: Sequence[str], max_bytes: int) -> dict[str, bytes]:
    if len(files) <= _FEW:
        return await _one_by_one(sandbox, files, max_bytes)
    try:
        return await _taken_out(sandbox, files)
    except DeliverableRefused:  # such as one with a second name elsewhere
        half = len(files) // 2
        first = await _read(sandbox, files[:half], max_bytes)
        return {**first, **await _read(sandbox, files[half:], max_bytes)}


async def _taken_out(
    sandbox: Sandbox, paths: Sequence[str], *, only: Collection[str] | None = None
) -> dict[str, bytes]:
    """All at once, of folders those files that are asked for."""
    with tempfile.TemporaryDirectory(prefix="evalkit-effects-") as folder:
        store = ArtifactStore(Path(folder) / "files")
        found: dict[str, bytes] = {}
        for one in await sandbox.export(paths, store):
            if one.kind == "file" and one.digest is not None and (only is None or one.path in only):
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
