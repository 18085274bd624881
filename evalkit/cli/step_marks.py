"""What went wrong, and what was put right, at which step of a trial?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.measures.episode import Episode
from evalkit.scoring.trial import Trial


@dataclass(frozen=True, slots=True)
class Mark:
    """A remark at one step."""

    text: str
    style: str


def marks(trial: Trial) -> Mapping[int, Sequence[Mark]]:
    """By step: faults that struck, episodes that opened, went on and closed, and milestones."""
    found: defaultdict[int, list[Mark]] = defaultdict(list)
    for strike in trial.strikes:
        loud = "" if strike.loud else ", silent" if strike.visible else ", silent and not to be seen"
        found[strike.step].append(Mark(f"fault {strike.fault_id} struck ({strike.kind}{loud})", "yellow"))
    for milestone in trial.milestones:
        found[milestone].append(Mark("a milestone was reached", "cyan"))
    for number, episode in enumerate(trial.episodes, start=1):
        for step, mark in _of_episode(number, episode):
            found[step].append(mark)
    return found


def faults_as_json(trial: Trial) -> list[dict[str, object]]:
    """Where faults struck, for programs."""
    return [
        {
            "step": strike.step,
            "fault": strike.fault_id,
            "kind": strike.kind,
            "loud": strike.loud,
            "visible": strike.visible,
        }
        for strike in trial.strikes
    ]


def episodes_as_json(trial: Trial) -> list[dict[str, object]]:
    """From each failure to where it was put right, for programs."""
    return [
        {
            "operation": episode.intent.operation,
            "resource": episode.intent.resource,
            "failed_by": episode.tries[0].failure,
            "opened_at": episode.opened_at,
            "attempts": list(episode.attempts),
            "closed_at": episode.closed_at,
            "by_milestone": episode.by_milestone,
            "abandoned": episode.abandoned,
        }
        for episode in trial.episodes
    ]


def _of_episode(number: int, episode: Episode) -> list[tuple[int, Mark]]:
    about = " ".join(part for part in (episode.intent.operation, episode.intent.resource) if part)
    name = f"episode {number}"
    if episode.abandoned:
        end = "; nothing of the kind was tried again"
    elif episode.recovered:
        end = f"; put right at step {episode.closed_at}"
    else:
        end = f"; tried {_times(len(episode.tries) - 1)} more, never put right"
    found = [(episode.opened_at, Mark(f"{name} opens ({_short(about)}){end}", "red"))]
    found += [
        (action.step, Mark(f"{name} goes on: it failed again", "red"))
        for action in episode.tries[1:]
        if action.step != episode.closed_at
    ]
    if episode.closed_at is not None:
        how = "a milestone closes" if episode.by_milestone else "closes"
        told = f"{how} {name}" if episode.by_milestone else f"{name} {how}"
        found.append((episode.closed_at, Mark(f"{told}, open since step {episode.opened_at}", "green")))
    return found


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
