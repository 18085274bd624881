"""Are a task's copies of the grader's helper those of this version?

A task carries its own copy, so that Harbor runs it unchanged and its digest says what graded. An old one still grades,
but may let through what the new one withstands.
"""

from __future__ import annotations

import os
from pathlib import Path

from evalkit.grading.helper import NAME, is_current, put
from evalkit.tasks.suite import Suite
from evalkit.tasks.task import Task


def old_copies(task: Task) -> tuple[Path, ...]:
    """The folders among a task's tests that hold another version's helper."""
    files = (file for stage in task.stages for file in stage.verifier.test_files.values())
    copies = dict.fromkeys(file.parent for file in files if file.parent.name == NAME)
    return tuple(copy for copy in copies if not is_current(copy))


def remarks_on(suite: Suite, task: Task) -> tuple[str, ...]:
    """That a task's copies are old, and what makes them new."""
    return tuple(
        f"{copy.relative_to(task.path)} is another version's copy of the grader's helper: "
        f"evalkit suite refresh {os.path.relpath(suite.path)}"
        for copy in old_copies(task)
    )


def refresh(suite: Suite) -> tuple[Path, ...]:
    """Make a suite's old copies this version's; returns their folders. Raises OSError where one cannot be written."""
    old = tuple(dict.fromkeys(copy for task in suite.tasks for copy in old_copies(task)))
    for copy in old:
        put(copy)
    return old
