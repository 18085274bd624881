"""Which lasting changes did a trial make, at which step, for a reader and for programs?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from evalkit.cli.broken_lines import say_items
from evalkit.cli.step_marks import Mark
from evalkit.measures.side_effects import change_text, severity_of
from evalkit.scoring.trial import Trial
from evalkit.trajectory.effect import Effect

MOST = 8
"""Changes of one step that are told, the worst first; `--full` tells all."""
_STYLES = {"forbidden": "red", "collateral": "red", "intended": "green", "noise": "dim", None: "yellow"}


def effect_marks(trial: Trial, *, full: bool) -> Mapping[int, Sequence[Mark]]:
    """By the step that made them; of several that did, the last one."""
    by_step: defaultdict[int, list[Effect]] = defaultdict(list)
    for effect in trial.changes:
        if effect.step is not None:
            by_step[effect.step].append(effect)
    return {step: _marks(effects, full=full) for step, effects in by_step.items()}


def say_unattributed(trial: Trial, *, full: bool) -> None:
    """Print the changes of which no single step is known to have made them; nothing where there is none."""
    there = {step.step for step in trial.steps}
    effects = [effect for effect in trial.changes if effect.step not in there]
    if not effects:
        return
    say_items([""])
    say_items(["Changes that no single step is known to have made"], style="bold")
    for mark in _marks(effects, full=full):
        say_items([f"  ! {mark.text}"], style=f"bold {mark.style}")


def effects_as_json(trial: Trial) -> list[dict[str, object]]:
    """The rows, for programs, with the columns of the record."""
    return [
        {"class" if key == "class_" else key: value for key, value in asdict(effect).items()}
        for effect in trial.changes
    ]


def _marks(effects: Sequence[Effect], *, full: bool) -> list[Mark]:
    ordered = sorted(effects, key=lambda own: (-_weight(own), own.channel, own.resource))
    told = ordered if full else ordered[:MOST]
    found = [Mark(f"{change_text(own)}{_others(own)}", _STYLES[own.class_]) for own in told]
    if len(told) < len(ordered):
        found.append(Mark(f"and {len(ordered) - len(told):,} more changes (--full shows them)", "dim"))
    return found


def _weight(effect: Effect) -> float:
    """What is outside before what is allowed, the worst first."""
    if effect.class_ in {"forbidden", "collateral"}:
        return 1 + severity_of(effect)
    return 0.5 if effect.irreversible else 0.0


def _others(effect: Effect) -> str:
    others = [step for step in effect.evidence if step != effect.step]
    if not others:
        return ""
    steps = ", ".join(map(str, others[:MOST]))
    return f" (steps {steps} touched it, too)" if len(others) > 1 else f" (step {steps} touched it, too)"
