"""Which calls changed the state of the work, and which were worth making?"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.measures.action import Action
from evalkit.measures.line_doings import changes_files, line_doings
from evalkit.trajectory.step import Act

_DID_NOT_RUN = frozenset({"harness", "arguments"})


def tells_changes(actions: Sequence[Action]) -> bool:
    """Whether the record tells at all which calls change something: by workspace digests, or by shell lines."""
    return any(action.workspace_digest is not None or action.is_shell for action in actions)


def changing(actions: Sequence[Action]) -> frozenset[int]:
    """Steps of the calls that changed something.

    By the workspace digest before and after; where one of them is unknown, by whether any command of the shell line
    installs or changes files. Tests change nothing: what they leave behind are caches.
    """
    changed: set[int] = set()
    before: str | None = None
    for action in actions:
        after = action.workspace_digest
        if before is not None and after is not None:
            changes = before != after and not (action.line and line_doings(action.line).only_tests)
        else:
            ran = action.failure not in _DID_NOT_RUN
            changes = bool(action.line and ran and changes_files(action.line))
        if changes:
            changed.add(action.step)
        before = after if after is not None else before
    return frozenset(changed)


def effective(actions: Sequence[Action], acts: Sequence[Act], changed: frozenset[int]) -> tuple[int, ...]:
    """Steps of the calls that ran and changed something, or showed what this trial had not shown before."""
    ran = {action.step for action in actions if action.failure not in _DID_NOT_RUN}
    seen: set[str] = set()
    found: list[int] = []
    for act in acts:
        is_new = bool(act.observation) and act.observation not in seen
        if act.observation:
            seen.add(act.observation)
        if act.step in ran and (is_new or act.step in changed):
            found.append(act.step)
    return tuple(found)
