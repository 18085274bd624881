"""What does a comparison of two agents say in words?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from evalkit.cli.compared import Compared, is_apart, is_up, unit_text, wanted_figures
from evalkit.cli.prose import INDENT, say, say_unbroken
from evalkit.scoring.agent_settings import Change
from evalkit.scoring.paired import Comparison, PairedCell, PairedFigure
from evalkit.scoring.scored_trials import Unit

_NAMED = 5
_MOST_NAMES = 20


def say_what_was_compared(compared: Compared, own: Comparison, changes: Sequence[Change]) -> None:
    """Who, on how many tasks, how they differ, and what had to be left out."""
    say(_headline(compared, own))
    for line in _about(own, changes):
        say(line)


def say_what_differs(own: Comparison, metrics: Sequence[str]) -> None:
    """Which numbers these tasks tell apart, arm by arm, and what chance alone would give."""
    by_arm: dict[str, list[PairedCell]] = {}
    for cell in own.cells:
        by_arm.setdefault(cell.arm, []).append(cell)
    total = found = 0
    for arm, cells in by_arm.items():
        figures = [(c, f) for c in cells for f in wanted_figures(c, metrics)]
        told = [(c, f) for c, f in figures if f.difference.low is not None]
        apart = [(c, f) for c, f in told if is_apart(f.difference)]
        without = sum(f.difference.value is not None for _, f in figures) - len(told)
        beside = f" ({without} more have no interval)" if without else ""
        where = f"In the {arm} arm t" if set(by_arm) != {"clean"} else "T"
        if not told:
            say(f"{where}hese tasks are too few, or too alike, to tell A and B apart.")
        elif not apart:
            say(f"{where}hese tasks tell A and B apart in none of {len(told)} numbers{beside}.")
        else:
            say(f"{where}hese tasks tell A and B apart in {len(apart)} of {len(told)} numbers{beside}:")
            for line in _ways(apart):
                say(line, indent=INDENT, hanging=INDENT)
        total, found = total + len(told), found + len(apart)
    if found and total > 1:
        say(f"Of {total} comparisons, about {0.05 * total:.2g} would look like that by chance alone.")


def say_how_to_read(compared: Compared, metrics: Sequence[str]) -> None:
    """What the columns mean, and what else there would be."""
    if all(compared.same_trials(own) for own in compared.comparisons):
        say_unbroken(
            f"Two agents of one run: evalkit compare {shlex.quote(compared.path_a)} --agent ONE --agent OTHER"
        )
    else:
        say(
            "↑ more is better, ↓ less is better. better/worse/same: at how many tasks B is; where neither more nor "
            "less is better, at how many it is higher (↑), lower (↓) and the same. n: how many tasks count."
        )
        say(
            "In brackets: where the difference may lie for further tasks of this kind (95 %). Where 0 is within, "
            "these tasks cannot tell; none where one task is all there is, or nothing tells how much tasks differ. "
            "p: how often chance alone gives such a difference; only means over tasks have one. Accepting a change "
            "is for a gate."
        )
    figures = (f for own in compared.comparisons for c in own.cells for f in wanted_figures(c, metrics))
    if any(figure.quantity.metric is None for figure in figures):
        say("* plain means: no scorer that is installed here declares it")
    for agents, run in ((compared.match.only_a, "A"), (compared.match.only_b, "B")):
        if agents:
            say(f"Not compared, as only {run} has them: {', '.join(agents)} (--map A_ID=B_ID matches others)")
    for path in dict.fromkeys(compared.without_scores):
        say_unbroken(f"{path} has no scores. More than this: evalkit score {shlex.quote(path)}")


def _ways(apart: Sequence[tuple[PairedCell, PairedFigure]]) -> Iterator[str]:
    """Where B is better, where it is worse, and where it is neither but different."""
    ways: dict[str, list[str]] = {"better at": [], "worse at": [], "higher in": [], "lower in": []}
    for cell, figure in apart:
        better, up = figure.quantity.better, is_up(figure.difference)
        if better == "neither":
            way = "higher in" if up else "lower in"
        else:
            way = "better at" if up == (better == "higher") else "worse at"
        ways[way].append(figure.name + (f" ({cell.group})" if cell.group is not None else ""))
    for way, names in ways.items():
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            yield f"B is {way}: {', '.join(names[:_MOST_NAMES])}{more}"


def _headline(compared: Compared, own: Comparison) -> str:
    tasks = len({unit[:2] for unit in own.tasks.both})
    trials = [sum(c.trials_a for c in own.cells), sum(c.trials_b for c in own.cells)]
    if compared.by == "skill":
        trials = []  # a trial can be in several groups
    counted = f" ({trials[0]} and {trials[1]} trials)" if trials else ""
    line = (
        f"Compared A, {own.agent_a} of {compared.path_a}, with B, {own.agent_b} of {compared.path_b}, "
        f"on {tasks} task{'s' if tasks != 1 else ''} that both tried{counted}."
    )
    if compared.same_trials(own):
        line += " They are the same trials, so every difference is 0."
    return line


def _about(own: Comparison, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield "What differs: " + "; ".join(f"{c.setting} {c.a} -> {c.b}" for c in changes)
    tasks = own.tasks
    if tasks.suites:
        yield f"The suite has changed in between: {', '.join(tasks.suites)}. Tasks are compared one by one."
    if tasks.changed:
        yield f"Left out, as the task itself has changed: {_some(tasks.changed)}"
    if tasks.only_a:
        yield f"Left out, as only A tried it: {_some(tasks.only_a)}"
    if tasks.only_b:
        yield f"Left out, as only B tried it: {_some(tasks.only_b)}"
    if any(unscored := [sum(c.unscored_a for c in own.cells), sum(c.unscored_b for c in own.cells)]):
        yield f"Unscored trials count nowhere: {unscored[0]} of A, {unscored[1]} of B"
    if tasks.by_id:
        yield f"warning: {tasks.by_id} tasks have no digest, so that only their ids say that they are the same"
    for names, run in ((own.only_a, "A"), (own.only_b, "B")):
        if names:
            yield f"Only {run} has scores of: {', '.join(names)}"
    if own.other_version:
        yield f"warning: scored by other versions of their scorers, so score both again: {', '.join(own.other_version)}"
    if own.other_reference:
        yield f"Not compared, as they rest on different reference costs: {', '.join(own.other_reference)}"


def _some(units: Sequence[Unit]) -> str:
    names = [unit_text(unit) for unit in units]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} ({len(names)})"
