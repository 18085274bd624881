"""What has changed in git repositories?

Everything below a repository's own folder but its hooks is told here alone: refs, HEAD, the stash, the configuration.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from evalkit.engine.effects.change import WORDS, RawChange
from evalkit.engine.effects.git_history import Read, descends
from evalkit.engine.effects.git_state import STASH, STASH_LOG, GitState, is_state_file, tree_of
from evalkit.engine.effects.ref_tracking import packed_name
from evalkit.trajectory.effect import Change

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def told_by_git(path: str, repositories: Container[str], new: Container[str] = ()) -> bool:
    """Whether a path is among a repository's own files; of one that is `new`, its samples of hooks are, too."""
    folder, below = path, ""
    while folder:
        if folder in repositories:
            is_sample = folder in new and path.endswith(".sample")
            return is_sample or below.partition("/")[0] != "hooks"
        folder, _, name = folder.rpartition("/")
        below = f"{name}/{below}"
    return False


def is_state(path: str, repositories: Container[str]) -> bool:
    """Whether a path is one of the files that hold what is told of a repository: HEAD, refs, stash, config."""
    folder, below = path, ""
    while folder:
        if folder in repositories and below:
            return is_state_file(below.rstrip("/"))
        folder, _, name = folder.rpartition("/")
        below = f"{name}/{below}"
    return False


def label(folder: str, main: str | None) -> str:
    """What resources of the repository begin with."""
    return "git:" if folder == main else f"git:{tree_of(folder)}:"


def main_repository(folders: Iterable[str], workdir: str) -> str | None:
    """The one that holds the working directory, or is the only one."""
    listed = sorted(folders)
    holding = [one for one in listed if f"{workdir}/".startswith(f"{tree_of(one).rstrip('/')}/")]
    if holding:
        return max(holding, key=len)
    return listed[0] if len(listed) == 1 else None


def git_changes(folder: str, name: str, before: GitState, after: GitState) -> Iterator[RawChange]:
    """Every difference; `name` is what resources begin with. Whether a ref that was moved lost what it stood for is
    left open.
    """
    for word, old, new in (("HEAD", before.head, after.head), ("config", before.config, after.config)):
        if old != new:
            yield _change(folder, name, word, old, new)
    created = {after.refs[ref] for ref in after.refs.keys() - before.refs.keys()}
    for ref in sorted(before.refs.keys() | after.refs.keys()):
        old, new = before.refs.get(ref), after.refs.get(ref)
        if old == new:
            continue
        change = _change(folder, name, ref, old, new)
        if new is None:
            change = replace(change, irreversible=old not in created)
        elif old is not None:
            change = replace(change, irreversible=None)
        yield change
    if before.stash != after.stash:
        yield _stash(folder, name, before.stash, after.stash)


async def with_history(change: RawChange, read: Read) -> RawChange:
    """A moved ref, and whether it lost what it stood for; any other change as it is."""
    old, new = change.before or "", change.after or ""
    if change.irreversible is not None or not (_COMMIT.fullmatch(old) and _COMMIT.fullmatch(new)):
        return change
    kept = await descends(new, old, read)
    return replace(change, irreversible=None if kept is None else not kept)


def _change(folder: str, name: str, word: str, old: str | None, new: str | None) -> RawChange:
    kind: Change = "created" if old is None else "deleted" if new is None else "modified"
    return RawChange(
        "git",
        f"{name}{word}",
        kind,
        old,
        new,
        irreversible=False,
        places=(f"{folder}/{word}",),
        clues=(packed_name(folder, word),),
    )


def _stash(folder: str, name: str, old: tuple[str, ...], new: tuple[str, ...]) -> RawChange:
    change = _change(folder, name, STASH, _listed(old), _listed(new))
    return replace(
        change,
        resource=f"{name}stash",
        irreversible=bool(set(old) - set(new)),
        clues=(f"{folder}/{STASH_LOG}", *change.clues),
    )


def _listed(commits: tuple[str, ...]) -> str | None:
    return ",".join(commits)[:WORDS] or None
