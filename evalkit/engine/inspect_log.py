"""How do secrets stay out of Inspect's own log, as they stay out of our record?"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import cast

from evalkit.trajectory.redaction import redact


def redact_logs(folder: Path) -> None:
    """Write every `.eval` file below a folder again with what looks like a secret redacted.

    One member of a log is in memory at a time. A log that is no zip file (cut off by a crash) is deleted: it
    could not be redacted, and the record holds everything that it held.
    """
    for log in sorted(folder.glob("*.eval")):
        if zipfile.is_zipfile(log):
            _redact_log(log)
        else:
            log.unlink()


def _redact_log(log: Path) -> None:
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
    finally:
        part.unlink(missing_ok=True)


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {redact(key): _redacted(item) for key, item in cast("dict[str, object]", value).items()}
    return value
