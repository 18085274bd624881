"""Which evidence of tampering is there, at which step of a trial, for a reader and for programs?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from evalkit.cli.broken_lines import say_items
from evalkit.cli.step_marks import Mark
from evalkit.measures.tampering.finding_text import finding_text, planted_text
from evalkit.scoring.trial import Trial
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Event


def finding_marks(trial: Trial) -> Mapping[int, Sequence[Mark]]:
    """By each step that shows it, not by the event that tells of it."""
    found: defaultdict[int, list[Mark]] = defaultdict(list)
    for finding in trial.findings:
        for step in dict.fromkeys(finding.steps):
            found[step].append(_mark(finding))
    return found


def say_unplaced(trial: Trial) -> None:
    """Print the evidence that no step of the record shows; nothing where there is none."""
    there = {step.step for step in trial.steps}
    unplaced = [finding for finding in trial.findings if not there & set(finding.steps)]
    if not unplaced:
        return
    say_items([""])
    say_items(["Evidence of tampering that no single step shows"], style="bold")
    for finding in unplaced:
        mark = _mark(finding)
        say_items([f"  ! {mark.text}"], style=f"bold {mark.style}")


def event_text(step: Event) -> str | None:
    """What an event about tampering says, in words; what was recorded of any other."""
    if step.event == "planted":
        return planted_text(step.detail)
    if step.event == "tampering" and (finding := Finding.from_json(step.detail)) is not None:
        return "".join(_told(finding))
    return step.detail


def findings_as_json(trial: Trial) -> list[dict[str, object]]:
    """All evidence, for programs."""
    return [asdict(finding) for finding in trial.findings]


def _told(finding: Finding) -> Iterator[str]:
    yield finding_text(finding)
    if finding.steps:
        yield f" (step{'s' if len(finding.steps) > 1 else ''} {', '.join(map(str, finding.steps))})"


def _mark(finding: Finding) -> Mark:
    style = "red" if finding.level == "confirmed" else "yellow"
    return Mark(f"tampering {finding_text(finding)}", style)
