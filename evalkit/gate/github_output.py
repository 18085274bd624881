"""What does GitHub Actions show of a verdict: which annotations, and which summary of the step?

Annotations are workflow commands: lines of output that begin with two colons. GitHub shows ten of each kind a step.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalkit.errors import UsageError
from evalkit.gate.hostile_text import shown
from evalkit.gate.markdown_output import LEAST_BYTES, as_markdown
from evalkit.gate.notable_tasks import newly_passing
from evalkit.gate.verdict import Outcome, Verdict, ZeroEvent, ZeroVerdict

SUMMARY_BYTES = 2**20 - 1024
"""GitHub takes 1 MiB a step."""
_OBEYED = re.compile(r"^\s*::|##\[", re.MULTILINE)
_MOST_OF_A_KIND = 10
_LONGEST = 2000
_MOST_EVENTS = 3
_MOST_STEPS = 5
Kind = Literal["error", "warning", "notice"]
_KINDS: tuple[Kind, ...] = ("error", "warning", "notice")


@dataclass(frozen=True, slots=True)
class Annotation:
    """One remark that GitHub shows at a job."""

    kind: Kind
    title: str
    message: str


def workflow_commands(verdict: Verdict, *, strict: bool) -> str:
    """The annotations as lines, the most serious first; at most ten of each kind, of which the last may count the
    rest."""
    found = list(_annotations(verdict, strict=strict))
    lines = [
        _line(own) for kind in _KINDS for own in _fitting([one for one in found if one.kind == kind], kind)
    ]
    return "".join(f"{line}\n" for line in lines)


def without_commands(text: str) -> str:
    """The text as GitHub shows it without obeying any line of it: where one looks like a command, between two commands
    that let it obey none."""
    if not _OBEYED.search(text):
        return text
    token = f"evalkit-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def append_summary(verdict: Verdict, environment: Mapping[str, str], *, strict: bool) -> None:
    """Append the verdict to the step's summary, where the environment names its file. Raises UsageError where it cannot
    be written."""
    name = environment.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    path = Path(name)
    try:
        there = path.stat().st_size if path.exists() else 0
        room = SUMMARY_BYTES - there
        if room < LEAST_BYTES:  # of a summary that is too long, GitHub shows nothing
            return
        text = as_markdown(verdict, strict=strict, most_bytes=room)
        with path.open("ab") as file:
            file.write(("\n" if there else "").encode() + text.encode())
    except OSError as error:
        raise UsageError(
            f"cannot write the step's summary: {error.strerror or error}",
            where=name,
            hint="GITHUB_STEP_SUMMARY names it; leave --github out where there is none.",
        ) from error


def _annotations(verdict: Verdict, *, strict: bool) -> Iterator[Annotation]:
    kinds: dict[Outcome, Kind] = {
        "information": "notice",
        "pass": "notice",
        "inconclusive": "error" if strict else "warning",
        "regressed": "error",
        "not comparable": "error",
    }
    yield Annotation(kinds[verdict.outcome], "evalkit gate", f"{verdict.headline}\n{verdict.advice}")
    for problem in verdict.problems:
        yield Annotation("error", "not comparable", f"{problem.what}\n{problem.hint}")
    for own in verdict.agents:
        for part in (*own.zero, *own.metrics, *own.required):
            if part.outcome not in ("pass", "information"):
                events = _told_events(part.events) if isinstance(part, ZeroVerdict) else ""
                told = f"{part.reason}\n{events}" if events else part.reason
                yield Annotation(kinds[part.outcome], f"{part.outcome}: {own.candidate}", told)
        for metric in own.metrics:
            if metric.tolerable:
                yield Annotation("notice", f"tolerable: {own.candidate}", metric.reason)
        passing = newly_passing(own.tasks)
        if passing:
            names = ", ".join(task.key for task in passing[:5])
            more = f" and {len(passing) - 5} more" if len(passing) > 5 else ""
            yield Annotation("notice", f"newly passing: {own.candidate}", f"{names}{more}")
    for warning in verdict.warnings:
        yield Annotation("warning", "evalkit gate", warning)


def _told_events(events: Sequence[ZeroEvent]) -> str:
    """The first events: kinds, trial, steps and reason of each."""
    told = [
        f"{' '.join((*event.codes, event.trial_id))}{event.steps_told(_MOST_STEPS)}"
        f"{f': {event.reason}' if event.reason else ''}"
        for event in events[:_MOST_EVENTS]
    ]
    more = f"; and {len(events) - _MOST_EVENTS} more" if len(events) > _MOST_EVENTS else ""
    return f"{'; '.join(told)}{more}"


def _fitting(found: list[Annotation], kind: Kind) -> Iterable[Annotation]:
    if len(found) <= _MOST_OF_A_KIND:
        return found
    kept = found[: _MOST_OF_A_KIND - 1]
    return [
        *kept,
        Annotation(kind, "evalkit gate", f"and {len(found) - len(kept)} more, in the output above"),
    ]


def _line(own: Annotation) -> str:
    message = "\n".join(shown(line, _LONGEST) for line in own.message.split("\n", 1))
    title = _escaped(shown(own.title, 200)).replace(":", "%3A").replace(",", "%2C")
    return f"::{own.kind} title={title}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
