"""Are a task's copies of the grader's helper those of this version?

A task carries its own copy, so that Harbor runs it unchanged. An old one may let through what the new one withstands.
"""

from __future__ import annotations

from pathlib import Path

import evalkit.grading
from evalkit.tasks.task import Task

HELPER = Path(evalkit.grading.__path__[0]) / "helper" / "evalkit_grader.py"


def old_copies(task: Task) -> tuple[str, ...]:
    """What is wrong with the copies among a task's tests; nothing where there are none, or all are current."""
    current = HELPER.read_bytes() if HELPER.is_file() else None
    files = dict.fromkeys(file for stage in task.stages for file in stage.verifier.test_files.values())
    return tuple(
        f"{file.relative_to(task.path)} is not the grader's helper of this version of evalkit: copy {HELPER} over it"
        for file in files
        if file.name == HELPER.name and current is not None and file.read_bytes() != current
    )
