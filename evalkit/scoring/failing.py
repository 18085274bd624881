"""What went wrong in a scorer, and where in which trial?"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType, FrameType, GeneratorType
from typing import cast

from evalkit.measures.action import Action
from evalkit.scoring.foreign import error_text
from evalkit.scoring.scorer import Scorer
from evalkit.trajectory.step import Act, Event, Prompt, Think

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9][0-9.e+-]*")
_STEPS = (Prompt, Think, Act, Event, Action)


class InvalidScore(Exception):
    """A scorer gave what it may not give."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.frame: FrameType | None = None
        """Of the scorer that waits where it gave that; None where it does not wait."""


@dataclass(frozen=True, slots=True)
class ScorerFailure:
    """A scorer that gave no, or no valid, scores for a trial."""

    scorer: str
    trial_id: str
    step: int | None
    """The step that was looked at; None where it was none."""
    message: str
    place: str | None = None
    """File and line of the scorer."""
    trials: int = 1
    """For how many trials it failed in the same way; this is the first of them."""

    @property
    def way(self) -> tuple[str, str | None, str]:
        """What failures have in common that only names and numbers tell apart."""
        return self.scorer, self.place, _VARYING.sub("_", self.message)


def failure_of(name: str, scorer: Scorer, trial_id: str, error: BaseException) -> ScorerFailure:
    """Attribute what a scorer raised to the line of its own file, and to the step that it had in hand there."""
    code = _code(scorer)
    frames = list(traceback.walk_tb(error.__traceback__))
    if isinstance(error, InvalidScore) and error.frame is not None:
        frames.append((error.frame, error.frame.f_lineno))
    own = [
        line for frame, line in frames if code is not None and frame.f_code.co_filename == code.co_filename
    ]
    place = None
    if code is not None:
        place = f"{code.co_filename}:{own[-1] if own else code.co_firstlineno}"
    return ScorerFailure(name, trial_id, _step(frame for frame, _ in frames), error_text(error), place)


def waiting(given: object) -> FrameType | None:
    """The frame of a generator that waits for being asked on."""
    return cast("GeneratorType[object, None, None]", given).gi_frame if type(given) is GeneratorType else None


def _code(scorer: Scorer) -> CodeType | None:
    code = getattr(type(scorer).score, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _step(frames: Iterable[FrameType]) -> int | None:
    """The number of the step that the innermost function had in hand."""
    found: int | None = None
    for frame in frames:
        for value in frame.f_locals.values():
            if issubclass(type(value), _STEPS):
                found = cast("Act", value).step
    return found
