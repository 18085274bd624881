"""Where is each thing in a run's folder, and which files of a table count?

    run.json  owner.json  spent.json  journal/<trial>.jsonl  artifacts/
    trials/   steps/   effects/   scores/

A trial is committed as `part-<generation>-<trial>.parquet` in `steps` and `effects` and then, under the
same name, in `trials`: the file there is what makes it count. Compaction writes
`compact-<generation>.parquet`, which stands for every file of that generation and of those before it;
they are deleted afterwards, and ignored while they are still there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

from evalkit.errors import ConfigError

TableName = Literal["trials", "steps", "effects", "scores"]
TABLES: tuple[TableName, ...] = ("trials", "steps", "effects", "scores")

_KEY = r"[A-Za-z0-9._=@+-]*-[0-9a-f]{16}"
_NAME = re.compile(rf"(?:(part)-(\d{{6,18}})-{_KEY}|(compact)-(\d{{6,18}}))\.parquet", re.ASCII)
_JOURNAL = re.compile(rf"{_KEY}\.jsonl", re.ASCII)
_TABLE_FILE = rf"(?:(?:part-\d{{6,18}}|scores)-{_KEY}|compact-\d{{6,18}})\.parquet"
_SCORES = re.compile(rf"scores-{_KEY}\.parquet", re.ASCII)
_UNFINISHED = re.compile(
    rf"\.(?:run\.json|owner\.json|spent\.json|reference\.json|{_TABLE_FILE})\.[0-9a-f]{{8}}\.tmp", re.ASCII
)
_UNFINISHED_ARTIFACT = re.compile(r"\.part-[a-z0-9_]{8}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._=@+-]+")


def manifest_file(run: Path) -> Path:
    """What was asked for."""
    return run / "run.json"


def owner_file(run: Path) -> Path:
    """Which process is writing."""
    return run / "owner.json"


def spent_file(run: Path) -> Path:
    """What it has cost at most so far."""
    return run / "spent.json"


def journal_folder(run: Path) -> Path:
    """Trials in flight."""
    return run / "journal"


def journal_file(run: Path, trial_id: str) -> Path:
    """The steps that one trial in flight has made so far."""
    return journal_folder(run) / f"{file_key(trial_id)}.jsonl"


def artifacts_folder(run: Path) -> Path:
    """Contents by digest."""
    return run / "artifacts"


def file_key(name: str) -> str:
    """A file name for any text: readable, safe, and different for different texts."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    readable = _UNSAFE.sub("_", name).strip(".")[:60]
    return f"{readable}-{digest}"


def part_name(generation: int, trial_id: str) -> str:
    """The file that one trial is committed in."""
    return f"part-{generation:06d}-{file_key(trial_id)}.parquet"


def compact_name(generation: int) -> str:
    """The file that stands for a generation and all before it."""
    return f"compact-{generation:06d}.parquet"


def is_part(name: str) -> bool:
    """Does this file hold a single trial?"""
    return _parsed(name)[0] == "part"


def is_journal(name: str) -> bool:
    """Does this file of the journal's folder hold a trial in flight?"""
    return _JOURNAL.fullmatch(name) is not None


def is_unfinished(name: str) -> bool:
    """Was this file being written when its process died?"""
    return _UNFINISHED.fullmatch(name) is not None


def is_unfinished_artifact(name: str) -> bool:
    """Was this content being kept when its process died?"""
    return _UNFINISHED_ARTIFACT.fullmatch(name) is not None


def next_generation(names: Iterable[str]) -> int:
    """A generation that no compact file among these stands for."""
    return 1 + max((number for kind, number in map(_parsed, names) if kind == "compact"), default=0)


def current_files(names: Collection[str]) -> list[str]:
    """Those for which no compact file stands, sorted."""
    newest = next_generation(names) - 1
    keep: list[str] = []
    for name in sorted(names):
        kind, number = _parsed(name)
        superseded = (kind == "compact" and number < newest) or (kind == "part" and number <= newest)
        if not superseded:
            keep.append(name)
    return keep


def committed_files(names: Collection[str], trials: Collection[str]) -> list[str]:
    """The current files of `steps` or `effects` that belong to a committed trial.

    `trials` are the names in the folder `trials`, listed no later than `names`.
    """
    committed = set(trials)
    return [name for name in current_files(names) if not is_part(name) or name in committed]


def finished_files(names: Iterable[str], table: TableName, folder: str) -> list[str]:
    """The finished Parquet files of a table among the names in its folder.

    Raises ConfigError for one under a name that evalkit never gives: nobody could say whether its rows are there
    twice.
    """
    wanted = _SCORES if table == "scores" else _NAME
    found = [name for name in names if name.endswith(".parquet") and not name.startswith((".", "_"))]
    for name in found:
        if not wanted.fullmatch(name):
            raise ConfigError(
                f"not a file that evalkit wrote, in the folder of the table {table}",
                where=f"{folder}/{name}",
                hint="Move it out of the run. A copy would be counted twice, and another run has a folder of its own.",
            )
    return found


def _parsed(name: str) -> tuple[str | None, int]:
    found = _NAME.fullmatch(name)
    if found is None:
        return None, 0
    return (found[1], int(found[2])) if found[1] else (found[3], int(found[4]))
