"""What lies between two states of a sandbox?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.files import file_changes
from evalkit.engine.effects.git import (
    git_changes,
    is_state,
    label,
    main_repository,
    told_by_git,
    with_history,
)
from evalkit.engine.effects.git_state import GitState
from evalkit.engine.effects.package_files import MAX_LIST, Lists, PackageFiles, lists_of
from evalkit.engine.effects.packages import package_changes
from evalkit.engine.effects.reading import MAX_FILES, read_files
from evalkit.engine.effects.rows import KINDS
from evalkit.engine.effects.scope import Scope
from evalkit.engine.effects.state import State
from evalkit.measures.globs import fits
from evalkit.sandbox.protocol import Sandbox

_NO_REPOSITORY = GitState()


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes, and what could not be compared as it was declared."""

    changes: tuple[RawChange, ...]
    remarks: tuple[str, ...] = ()


async def difference(
    before: State, after: State, sandbox: Sandbox, *, scope: Scope, workdir: str
) -> Difference:
    """Everything that is not as it was. Histories and lists of packages are read from the sandbox as it is now."""
    rows = await _rows(before, after, scope)
    git = await _git(before, after, sandbox, workdir)
    packages = tuple(package_changes(before.packages, after.packages))
    told = await _told(before, after, sandbox, scope, rows=rows.told, packages=packages)
    files = file_changes(before.entries, after.entries, told)
    return Difference((*files, *git, *packages, *rows.changes), rows.remarks)


async def _told(
    before: State,
    after: State,
    sandbox: Sandbox,
    scope: Scope,
    *,
    rows: frozenset[str],
    packages: tuple[RawChange, ...],
) -> Callable[[str], bool]:
    """Which paths another channel tells of. Neither a package nor a repository hides what is forbidden."""
    wanted = lists_of(packages, after.entries.keys())[:MAX_FILES]
    now = await read_files(sandbox, wanted, after.entries, max_bytes=MAX_LIST)
    old = {path: before.lists[path] for path in lists_of(packages, before.lists.keys())}
    owned = PackageFiles(packages, Lists(old, now), before.entries.keys())
    repositories = frozenset(after.repositories)
    new = repositories - before.repositories.keys()

    def told(path: str) -> bool:
        if path in rows or is_state(path, repositories):
            return True
        is_owned = owned.explain(path, is_gone=path not in after.entries)
        return (is_owned or told_by_git(path, repositories, new)) and not fits(scope.forbidden, (path,))

    return told


@dataclass(frozen=True, slots=True)
class _RowChanges:
    changes: tuple[RawChange, ...]
    told: frozenset[str]
    remarks: tuple[str, ...]


async def _rows(before: State, after: State, scope: Scope) -> _RowChanges:
    """A database that appears or vanishes is one file, and so is one that cannot be compared."""
    changes: list[RawChange] = []
    told: set[str] = set()
    remarks: list[str] = []
    for path, word in scope.tables.items():
        kind = KINDS[word]
        files = kind.files(path)
        old = {name: before.databases[name] for name in files if name in before.databases}
        new = {name: after.databases[name] for name in files if name in after.databases}
        if path not in before.entries or path not in after.entries:
            told |= set(files[1:])
            continue
        if old == new and path in old:
            told |= {name for name in files if _same_rights(before, after, name)}
            continue
        if path not in old or path not in new:
            remarks.append(f"{path} is compared as one file: it is no regular file, or too large")
            continue
        compared = await kind.compare(path, old, new)
        if compared.problem is not None:
            remarks.append(f"{path} is compared as one file: {compared.problem}")
            continue
        changes += compared.changes
        told |= {name for name in files if _same_rights(before, after, name)} | set(files[1:])
    return _RowChanges(tuple(changes), frozenset(told), tuple(remarks))


def _same_rights(before: State, after: State, path: str) -> bool:
    old, new = before.entries.get(path), after.entries.get(path)
    return old is None or new is None or (old.kind, old.mode, old.owner) == (new.kind, new.mode, new.owner)


async def _git(before: State, after: State, sandbox: Sandbox, workdir: str) -> list[RawChange]:
    main = main_repository(before.repositories or after.repositories, workdir)
    found: list[RawChange] = []
    for folder, new in after.repositories.items():
        old = before.repositories.get(folder, _NO_REPOSITORY)

        async def read(name: str, folder: str = folder) -> bytes | None:
            path = f"{folder}/{name}"
            return (await read_files(sandbox, [path], after.entries, max_bytes=MAX_LIST)).get(path)

        for change in git_changes(folder, label(folder, main), old, new):
            found.append(await with_history(change, read))  # noqa: PERF401  one after the other
    return found
