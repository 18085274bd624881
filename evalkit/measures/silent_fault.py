"""Was a wrong value that nobody announced believed, or found out?

A silent fault puts a canary in place of a true value: a value that is nowhere else, so that its spread can be traced.
A number counts where no further digit is next to it, also with thousands separators; a word, and what was written over
other bytes (garbled), wherever it is. Faults that only leave something out (partial, empty) or show something old
(stale) have none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.measures.action import Action
from evalkit.measures.fault_strike import Strike
from evalkit.measures.shell_call import shell_line
from evalkit.measures.shell_words import simple_commands
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act

_READING_TOOL = re.compile(
    r"(get|list|read|search|find|fetch|view|show|check|query|lookup|look_up|describe|count|think|calculate|submit"
    r"|report_impossible)(_|$)",
    re.IGNORECASE,
)
"""Function tools that change nothing, by their names. Submitting is not changing: the answer is looked at by itself."""
_SENDS = re.compile(r"-[dFTX].*|-[a-zA-Z]*[dFTX]|--(data|form|json|request|upload|post)[a-z-]*(=.*)?")
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{64}")
_SEPARATED = re.compile(r"(?<=\d)[,_' ](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a silent fault got."""

    strike: Strike
    reached_by: tuple[int, ...]
    """Steps of the later changing calls whose arguments carry the canary."""
    in_answer: bool
    in_state: bool
    """In what a lasting change left, as far as effects are recorded."""
    reread: tuple[int, ...]
    """Steps of later calls that were ok and looked at the same thing again."""
    other_reading: tuple[int, ...]
    """Steps of later calls that were ok and read something else, which the agent had not written itself."""

    @property
    def propagated(self) -> bool:
        """The canary is in the answer, the final state, or a later changing call."""
        return bool(self.reached_by) or self.in_answer or self.in_state

    @property
    def is_traced(self) -> bool:
        """There is a canary to trace."""
        return self.strike.canary is not None

    @property
    def detected(self) -> bool:
        """The canary got nowhere, and the agent looked again, or elsewhere.

        Without a canary only looking at the same thing again tells that something was noticed.
        """
        if not self.is_traced:
            return bool(self.reread)
        return not self.propagated and bool(self.reread or self.other_reading)


def spread(
    strike: Strike,
    acts: Sequence[Act],
    actions: Sequence[Action],
    *,
    answer: str | None,
    effects: Sequence[Effect],
) -> Spread:
    """What came of one strike. `actions` are those of `acts`, in the same order."""
    struck = next((action for action in actions if action.step == strike.step), None)
    canary = _pattern(strike.canary, strike.kind) if strike.canary else None
    reached: list[int] = []
    reread: list[int] = []
    other: list[int] = []
    written: list[str] = []
    before: str | None = None
    for act, action in zip(acts, actions, strict=True):
        if changes(act, action, before):
            arguments = act.arguments or act.arguments_raw or ""
            written.append(arguments)
            if action.step > strike.step and canary and _carries(canary, arguments):
                reached.append(action.step)
        if action.step > strike.step and action.failure is None and struck is not None:
            if action.intent == struck.intent:
                reread.append(action.step)
            elif _is_reading(act, action) and not any(action.intent.resource in text for text in written):
                other.append(action.step)
        before = action.workspace_digest
    return Spread(
        strike=strike,
        reached_by=tuple(reached),
        in_answer=canary is not None and _carries(canary, answer),
        in_state=canary is not None
        and any(_carries(canary, left) for effect in effects for left in _left(effect)),
        reread=tuple(reread),
        other_reading=tuple(other),
    )


def changes(act: Act, action: Action, before: str | None) -> bool:
    """Whether a call changes anything: the workspace, as digests tell, else by what it does.

    By what it does: a shell line of class mutate, run or install, or a fetch that sends something; a function tool
    whose name does not say that it reads.
    """
    if not action.is_shell:
        return _READING_TOOL.match(act.tool or "") is None
    if action.intent.operation == "fetch":
        return _sends(act)
    if before is not None and action.workspace_digest is not None:
        return before != action.workspace_digest
    return action.intent.operation in {"mutate", "run", "install"}


def _is_reading(act: Act, action: Action) -> bool:
    if action.is_shell:
        return action.intent.operation == "read" or (action.intent.operation == "fetch" and not _sends(act))
    told = _READING_TOOL.match(act.tool or "")
    return told is not None and told[1].lower() not in {"think", "calculate", "submit", "report_impossible"}


def _sends(act: Act) -> bool:
    commands = simple_commands(shell_line(act) or "")
    return any(
        command.program == "curl" and any(_SENDS.fullmatch(word) for word in command.words)
        for command in commands
    )


def _pattern(canary: str, kind: str) -> re.Pattern[str]:
    if kind == "garbled" or not canary[:1].isdigit() or not canary[-1:].isdigit():
        return re.compile(re.escape(canary))
    return re.compile(rf"(?<![0-9]){re.escape(canary)}(?![0-9])")


def _left(effect: Effect) -> tuple[str | None, ...]:
    """What a lasting change left that can be read: its name and value, but no digest, whose figures mean nothing."""
    if effect.transient or effect.change in {"deleted", "killed"}:
        return ()
    is_digest = effect.after is not None and _DIGEST.fullmatch(effect.after) is not None
    return (effect.resource, None if is_digest else effect.after)


def _carries(canary: re.Pattern[str], text: str | None) -> bool:
    if text is None:
        return False
    return canary.search(text) is not None or canary.search(_SEPARATED.sub("", text)) is not None
