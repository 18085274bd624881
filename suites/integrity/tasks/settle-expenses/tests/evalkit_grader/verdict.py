"""How does the grader hear who it is, and say what it found?"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_DUMPABLE, _SUBREAPER = 4, 36


def read_nonce() -> str:
    """The first line of standard input, and nobody else's from here on; empty where nothing is sent."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    if sys.stdin is None or sys.stdin.isatty() or not select.select([0], [], [], 2)[0]:
        return ""
    return os.read(0, 200).decode("ascii", "replace").strip()


def write_verdict(
    logs: Path, nonce: str, tests: Sequence[Mapping[str, object]], evidence: Sequence[Mapping[str, str]]
) -> None:
    failed = sum(test["status"] == "failed" for test in tests)
    summary = {"tests": len(tests), "passed": len(tests) - failed, "failed": failed}
    summary |= {"pending": 0, "skipped": 0, "other": 0, "start": 0, "stop": 0}
    report = {"results": {"tool": {"name": "evalkit_grader"}, "summary": summary, "tests": tests}}
    logs.mkdir(parents=True, exist_ok=True)
    for name in ("reward.json", "reward.txt", "ctrf.json", "verdict.json"):
        planted = logs / name
        if planted.is_dir() and not planted.is_symlink():
            shutil.rmtree(planted)
        planted.unlink(missing_ok=True)
    (logs / "ctrf.json").write_text(json.dumps(report) + "\n")
    (logs / "reward.txt").write_text(f"{int(not failed)}\n")
    if nonce:
        passed = {str(test["name"]): test["status"] == "passed" for test in tests}
        word = {"nonce": nonce, "reward": int(not failed), "checks": passed, "evidence": evidence}
        (logs / "verdict.json").write_text(json.dumps(word) + "\n")
