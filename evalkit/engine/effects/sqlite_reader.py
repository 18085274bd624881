"""What do the rows of two SQLite files differ in? Run as a program of its own, on copies, within limits.

Arguments: the file before and the file after. Prints one JSON object: the differences, or why there are none to tell.
The files are hostile: no schema is trusted, and nothing is asked of views, virtual tables or triggers.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

MAX_ROWS = 200_000
"""Of one file; more are not compared."""
MAX_CHANGES = 20_000
SECONDS = 10
MEMORY = 1024**3
_SHORT = 1000
_ROWIDS = ("rowid", "_rowid_", "oid")


class _TooMuch(Exception):
    """There is more than is compared."""


def main(before: str, after: str) -> None:
    """Compare, and print."""
    try:
        changes = compare(before, after)
        answer: dict[str, Any] = {"changes": changes}
    except _TooMuch as error:
        answer = {"problem": str(error)}
    except (sqlite3.Error, MemoryError, OverflowError, ValueError) as error:
        answer = {"problem": f"it cannot be read: {error}"}
    print(json.dumps(answer))


def compare(before: str, after: str) -> list[dict[str, Any]]:
    """Each difference: table, key, and what stood and stands there; tables themselves have no key."""
    old, new = _opened(before), _opened(after)
    was, now = _schema(old), _schema(new)
    found: list[dict[str, Any]] = [
        {"table": name, "key": None, "before": was.get(name), "after": now.get(name)}
        for name in sorted(was.keys() | now.keys())
        if was.get(name) != now.get(name)
    ]
    tables = sorted(_tables(old) | _tables(new))
    for table in tables:
        gone, come = _difference(_rows(old, table), _rows(new, table))
        for key in sorted(gone.keys() | come.keys()):
            found.append({"table": table, "key": key, "before": gone.get(key), "after": come.get(key)})
            if len(found) > MAX_CHANGES:
                raise _TooMuch(f"more than {MAX_CHANGES} rows changed")
    return found


def _difference(old: _Rows, new: _Rows) -> tuple[dict[str, str], dict[str, str]]:
    """Rows that are only in one of the two. Where nothing but their place tells rows apart, the same content elsewhere
    is the same row.
    """
    gone = {key: row for key, row in old.by_key.items() if new.by_key.get(key) != row}
    come = {key: row for key, row in new.by_key.items() if old.by_key.get(key) != row}
    if old.keyed and new.keyed:
        return gone, come
    same = Counter(gone.values()) & Counter(come.values())
    return _without(gone, same), _without(come, same)


def _without(rows: dict[str, str], same: Counter[str]) -> dict[str, str]:
    left, kept = Counter(same), dict[str, str]()
    for key, row in rows.items():
        if left[row] > 0:
            left[row] -= 1
        else:
            kept[key] = row
    return kept


class _Rows:
    def __init__(self, *, keyed: bool) -> None:
        self.keyed = keyed
        self.by_key: dict[str, str] = {}


def _rows(base: sqlite3.Connection, table: str) -> _Rows:
    if table not in _tables(base):
        return _Rows(keyed=True)
    columns = [(str(name), int(place)) for _, name, _, _, _, place, *_ in _info(base, table)]
    names = [name for name, _ in columns]
    primary = [name for name, place in sorted(columns, key=lambda column: column[1]) if place > 0]
    rowid = next((name for name in _ROWIDS if name not in {one.lower() for one in names}), None)
    keys = [_quoted(name) for name in primary] if primary else [rowid] if rowid else []
    found = _Rows(keyed=bool(primary))
    asked = ", ".join([*keys, *map(_quoted, names)])
    times: Counter[str] = Counter()
    query = f"SELECT {asked} FROM {_quoted(table)} NOT INDEXED"  # noqa: S608  names are quoted
    for number, row in enumerate(base.execute(query)):
        if number >= MAX_ROWS:
            raise _TooMuch(f"table {table} has more than {MAX_ROWS} rows")
        values = dict(zip(names, map(_value, row[len(keys) :]), strict=True))
        text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        key = _key([_value(value) for value in row[: len(keys)]], text)
        times[key] += 1
        found.by_key[key if times[key] == 1 else f"{key}#{times[key]}"] = _shortened(text)
    return found


def _info(base: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Columns, with those that are computed left out: they follow from the others."""
    return [row for row in base.execute(f"PRAGMA table_xinfo({_quoted(table)})") if row[6] == 0]


def _key(values: list[Any], row: str) -> str:
    if not values:
        return hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if len(values) == 1 and isinstance(values[0], str | int):
        return _shortened(str(values[0]))
    return _shortened(json.dumps(values, ensure_ascii=False, separators=(",", ":")))


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        if len(value) <= 32:
            return {"blob": value.hex()}
        return {"blob_sha256": hashlib.sha256(value).hexdigest(), "bytes": len(value)}
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return {"real": str(value)}
    return value


def _shortened(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _schema(base: sqlite3.Connection) -> dict[str, str]:
    """What the schema says of everything that has a name of its own."""
    asked = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return {
        str(name) if kind != "trigger" else f"trigger {name}": _shortened(str(sql))
        for kind, name, sql in base.execute(asked)
    }


def _tables(base: sqlite3.Connection) -> set[str]:
    """Ordinary tables: those that lie in the file, which virtual ones and views do not."""
    asked = (
        "SELECT name FROM sqlite_master WHERE type='table' AND rootpage>0 "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return {str(name) for (name,) in base.execute(asked)}


def _opened(path: str) -> sqlite3.Connection:
    base = sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True)
    base.text_factory = _text
    for setting in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "temp_store=MEMORY"):
        base.execute(f"PRAGMA {setting}")
    base.execute(
        "SELECT count(*) FROM sqlite_master"
    ).fetchone()  # what a crash left is put right before writing ends
    base.execute("PRAGMA query_only=ON")
    return base


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limits()
    main(*(str(Path(path).absolute()) for path in sys.argv[1:3]))
