"""How do secrets stay out of Inspect's own log, as they stay out of our record?"""

from __future__ import annotations

import contextlib
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import cast

from evalkit.trajectory.folder import delete_files, names_in
from evalkit.trajectory.redaction import redact

_UNFINISHED = re.compile(r"[^/]*\.part|\.inspect_tmp_[^/]*")
"""What we, and what Inspect, were writing when the process died."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError)
"""What reading a damaged or hostile zip file raises."""


def redact_logs(folder: Path) -> None:
    """Write every `.eval` file of a folder again with what looks like a secret redacted, and delete unfinished files.

    One member of a log is in memory at a time. A log that cannot be redacted (cut off by a crash, no room on the
    disk) is deleted: the record holds everything that it held.
    """
    names = names_in(folder)
    delete_files(folder, filter(_UNFINISHED.fullmatch, names))
    for name in names:
        if name.endswith(".eval") and not _redact_log(folder / name):
            delete_files(folder, [name])


def _redact_log(log: Path) -> bool:
    part = log.with_suffix(".part")
    try:
        with zipfile.ZipFile(log) as old, zipfile.ZipFile(part, "w") as new:
            for member in old.infolist():
                data = old.read(member)
                if member.filename.endswith(".json"):
                    data = json.dumps(_redacted(json.loads(data)), ensure_ascii=False).encode(
                        "utf-8", "replace"
                    )
                new.writestr(member, data, compress_type=member.compress_type)
        part.replace(log)
    except (*_DAMAGED, OSError):
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        return False
    return True


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {redact(key): _redacted(item) for key, item in cast("dict[str, object]", value).items()}
    return value
