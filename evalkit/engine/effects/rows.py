"""Which rows of a declared database are not as they were?

A kind of database is whatever says from its files before and after which rows differ; SQLite is the first.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from evalkit.engine.effects import sqlite_reader
from evalkit.engine.effects.change import RawChange
from evalkit.trajectory.effect import Change

SECONDS = 20.0
"""A comparison that takes longer is given up; the limit of its processor time is half of that."""
_MASTER = bytes.fromhex("d9d505f920a163d7")
"""How a rollback journal ends that names another file, which SQLite would open, and might remove."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison came to."""

    changes: tuple[RawChange, ...] = ()
    problem: str | None = None
    """Why rows cannot be told apart; the database is then one file that has changed."""


class Database(Protocol):
    """One kind of database."""

    def files(self, path: str) -> tuple[str, ...]:
        """The files that belong to the one at `path`, that itself first."""
        ...

    async def compare(self, path: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Compared:
        """What differs between these files' contents, by path. Never raises for what the files hold."""
        ...


class Sqlite:
    """Compared by a program of its own, which is stopped when it takes too long."""

    def files(self, path: str) -> tuple[str, ...]:
        """The file, its write-ahead log, what it shares in memory, and its rollback journal."""
        return (path, f"{path}-wal", f"{path}-shm", f"{path}-journal")

    async def compare(self, path: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Compared:
        """By primary key, else by rowid."""
        with tempfile.TemporaryDirectory(prefix="evalkit-effects-") as folder:
            copies: list[Path] = []
            for name, files in (("before", before), ("after", after)):
                copy = Path(folder) / f"{name}.db"
                for suffix in ("", "-wal", "-journal"):
                    content = files.get(f"{path}{suffix}", b"")
                    if suffix == "-journal" and content.endswith(_MASTER):
                        return Compared(problem="its journal names another file")
                    if content or not suffix:
                        Path(f"{copy}{suffix}").write_bytes(content)
                copies.append(copy)
            answer = await _answer(copies, folder)
        if "problem" in answer:
            return Compared(problem=str(answer["problem"]))
        found = cast("list[dict[str, Any]]", answer.get("changes", []))
        return Compared(tuple(_change(self, path, one) for one in found))


KINDS: Mapping[str, Database] = {"sqlite": Sqlite()}
"""By the word of a task's `tables`."""


async def _answer(copies: list[Path], folder: str) -> Mapping[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(sqlite_reader.__file__), *map(str, copies)),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        return {"problem": f"comparing its rows took more than {SECONDS:g} s"}
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        return {"problem": "comparing its rows took too long, or too much memory"}
    return cast("Mapping[str, Any]", json.loads(out))


def _change(database: Database, path: str, told: Mapping[str, Any]) -> RawChange:
    before, after = told["before"], told["after"]
    kind: Change = "created" if before is None else "deleted" if after is None else "modified"
    key = "" if told["key"] is None else f":{told['key']}"
    return RawChange(
        "row",
        f"row:{path}:{told['table']}{key}",
        kind,
        before,
        after,
        irreversible=kind == "deleted" and told["key"] is None,
        places=(path,),
        clues=database.files(path)[1:],
    )
