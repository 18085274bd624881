"""How are reference costs shown?"""

from __future__ import annotations

import dataclasses
from typing import Any

from evalkit.cli.console import print_json
from evalkit.cli.prose import INDENT, say, say_unbroken
from evalkit.scoring.reference import Reference, TaskReference


def print_reference(reference: Reference, *, json: bool) -> None:
    """As one JSON object, or as lines."""
    if json:
        print_json(reference_as_json(reference))
        return
    kept = "made of the run's own trials, kept nowhere" if reference.is_own else reference.digest[:12]
    say(f"Reference costs in {reference.basis}: {kept}")
    if reference.mixed_tokenizers:
        say("Mixed tokenizers: tokens of different models do not mean the same. Better: --basis cost_usd")
    for name, own in reference.tasks.items():
        say_unbroken(f"{INDENT}{name}  {_told(own)}")
    if reference.excluded:
        say(f"Excluded, as nobody solved them ({len(reference.excluded)}): {', '.join(reference.excluded)}")
    if not any(own.cost is not None for own in reference.tasks.values()):
        say("No task has a reference cost: no clean trial passed whose cost is known.")


def reference_as_json(reference: Reference) -> dict[str, Any]:
    """All that is known of it."""
    return {
        "basis": reference.basis,
        "digest": reference.digest,
        "own_cohort": reference.is_own,
        "mixed_tokenizers": reference.mixed_tokenizers,
        "models": list(reference.models),
        "tasks": {name: _fields(own) for name, own in reference.tasks.items()},
        "excluded": list(reference.excluded),
    }


def _fields(own: TaskReference) -> dict[str, Any]:
    fields = dataclasses.asdict(own)
    agent = fields.pop("agent")
    return {**fields, "from": agent}


def _told(own: TaskReference) -> str:
    if own.cost is None:
        return f"unknown: nobody counted what it cost ({own.agents} solved it)"
    calls = "" if own.calls is None else f", {own.calls:g} calls"
    firm = ", provisional" if own.provisional else ""
    return (
        f"{own.cost:g}{calls}, by {own.agent} ({own.successes} of its trials; {own.agents} solved it){firm}"
    )
