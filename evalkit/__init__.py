"""evalkit: run agents on executable tasks, keep every step, and judge how they worked.

import evalkit
run = evalkit.load("latest")
run.trials.to_pandas()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.trajectory.reader import Run, load

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "load"]


def __getattr__(name: str) -> object:
    """Load the public names when they are first used, so that `import evalkit` stays light."""
    if name in {"Run", "load"}:
        from evalkit.trajectory import reader

        return getattr(reader, name)
    raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
