"""How does a grader judge code that it cannot trust, in ten lines?

A task's tests/ carry a copy of this folder; it needs Python 3.10 or later on Linux and nothing else:

    grader = Grader()
    grader.values("page-count", "pagination.page_count", [Case([10, 3]), Case([0, 3])], reference=page_count)
    grader.finish()

What the agent wrote never runs in this process. It runs in a child, in a scratch copy of the working directory,
without what this process has: no open files, no variables, no standard input; as another user where we are root and
may become one, with Landlock (tests and verdict out of reach, no signals out of it) where the kernel has it. Only
plain values come back and are compared here, exactly: 1, 1.0 and True are three values, a tuple counts as a list.
Everything under tests/ that checks need is to be read before `finish`, which is when they run.
"""

from .case import Case, Raised, same
from .check_failed import CheckFailed, require
from .grader import Grader
from .workshop import Child, Output

__all__ = ["Case", "CheckFailed", "Child", "Grader", "Output", "Raised", "require", "same"]
