"""May a call run, by the rules?

Every command of a line is decided by the first rule that matches it, and the strictest of these decisions is the
call's: one that is not allowed keeps the whole line from being run.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.engine.approvals.deed import Deed, Deeds
from evalkit.engine.approvals.path_glob import lies_below, matches_path
from evalkit.engine.approvals.policy import DEFAULT, Approvals, Rule, Verdict
from evalkit.engine.approvals.reading import deeds_of
from evalkit.tasks.pattern import found_in_any

ALWAYS_ALLOWED = frozenset(("submit", "report_impossible"))
"""An agent may always end its work."""
_STRICTNESS: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say of a call."""

    verdict: Verdict
    rule: Rule | None = None
    """None: the default."""

    @property
    def rule_name(self) -> str:
        """Of the rule, or what stands for it."""
        return self.rule.name if self.rule else DEFAULT


_ALLOWED = Decision("allow")


async def decide(approvals: Approvals, tool: str, arguments: Mapping[str, object], base: str) -> Decision:
    """The decision about a call; relative paths start at `base`, the working directory."""
    if tool in ALWAYS_ALLOWED:
        return _ALLOWED
    rules = tuple(
        rule for rule in approvals.rule if rule.tool is None or fnmatch.fnmatchcase(tool, rule.tool)
    )
    deeds = deeds_of(tool, arguments, base)
    decided = [await _first(rules, deed, base, approvals.default) for deed in dict.fromkeys(deeds.each)]
    found = [one for one in decided if one is not None]
    whole = await _of_the_whole(rules, deeds, found)
    if whole is None and deeds.is_cut:
        whole = Decision(approvals.default)
    found = [*found, whole] if whole else found
    if not found:
        return _ALLOWED  # nothing but what prepares something
    return max(found, key=lambda one: (_STRICTNESS[one.verdict], -_place(rules, one)))


async def _first(rules: Sequence[Rule], deed: Deed, base: str, default: Verdict) -> Decision | None:
    for rule in rules:
        if await _matches(rule, deed, base):
            return Decision(rule.decision, rule)
    return None if deed.is_preparation else Decision(default)


async def _matches(rule: Rule, deed: Deed, base: str) -> bool:
    """Where a search could not be brought to its end, a rule matches unless it allows."""
    if rule.network and not deed.network:
        return False
    if rule.path is not None and not _names(rule.path, deed, base, everything=rule.decision == "allow"):
        return False
    if rule.command is None:
        return True
    found = await found_in_any(rule.command, deed.texts)
    return rule.decision != "allow" if found is None else found


def _names(glob: str, deed: Deed, base: str, *, everything: bool) -> bool:
    """Whether a deed names what the glob means, or a folder around that it sweeps; of an allowance, nothing else."""
    named = (matches_path(glob, path, base) for path in deed.paths)
    if everything:
        return bool(deed.paths) and all(named)
    doubtful = (matches_path(glob, path, base) for path in deed.perhaps)
    return any(named) or any(doubtful) or any(lies_below(glob, folder, base) for folder in deed.swept)


async def _of_the_whole(rules: Sequence[Rule], deeds: Deeds, decided: Sequence[Decision]) -> Decision | None:
    """What a rule finds in the line as it is written, such as a pipe, or in what no reading takes apart.

    Not where every part of the line was decided by a rule before it.
    """
    if deeds.whole is None:
        return None
    latest = max((_place(rules, one) for one in decided), default=len(rules))
    for rule in rules[: latest + 1]:
        if rule.decision == "allow" or rule.looks_at_tools_only:
            continue
        if deeds.is_cut:
            return Decision(rule.decision, rule)
        if rule.command is None or rule.path is not None or rule.network:
            continue
        if await found_in_any(rule.command, (deeds.whole,)) is not False:
            return Decision(rule.decision, rule)
    return None


def _place(rules: Sequence[Rule], decision: Decision) -> int:
    """Where the rule stands; the default comes last."""
    return len(rules) if decision.rule is None else rules.index(decision.rule)
