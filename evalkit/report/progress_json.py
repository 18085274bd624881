"""How far had a trial come when, for a page to draw?"""

from __future__ import annotations

from evalkit.measures.checkpoints import State, first_passed
from evalkit.measures.progressing import progress
from evalkit.scoring.trial import Trial


def progress_json(trial: Trial) -> dict[str, list[float]] | None:
    """The share of checks that pass (`p`), from the share of generated tokens on (`at`), start and end included.

    None without graded checkpoints that name checks, and where tokens are unknown.
    """
    found = progress(
        trial.steps,
        trial.states,
        at_start=trial.task.passes_at_start,
        at_end=trial.row.checks or None,
    )
    if found is None:
        return None
    return {
        "at": [round(at, 4) for at, _ in found.points],
        "p": [round(p, 4) for _, p in found.points],
    }


def state_words(state: State) -> str:
    """What the grader said of a state: `checkpoint: 2 of 3 checks pass`."""
    if state.checks:
        return f"checkpoint: {sum(state.checks.values())} of {len(state.checks)} checks pass"
    return f"checkpoint: it {'passes' if state.passed else 'does not pass'}"


def solved_at(trial: Trial) -> int | None:
    """The call after which the task was already solved, where more followed; None where it never was before the end."""
    step = first_passed(trial.states)
    later = [own.step for own in trial.steps if step is not None and own.step > step and own.kind != "event"]
    return step if later else None
