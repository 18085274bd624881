"""Rows of SQLite files, compared as data."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.engine.effects.rows import Compared, Sqlite

PATH = "/app/shop.db"
pytestmark = pytest.mark.anyio
Make = Callable[..., bytes]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A database made by statements; further ones are run on a copy of it."""
    numbers = iter(range(1000))

    def make(*statements: str, base: bytes | None = None) -> bytes:
        path = tmp_path / f"{next(numbers)}.db"
        if base is not None:
            path.write_bytes(base)
        database = sqlite3.connect(path)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()
        return path.read_bytes()

    return make


async def compare(before: bytes, after: bytes, **more: bytes) -> Compared:
    new = {PATH: after, **{f"{PATH}-{name}": content for name, content in more.items()}}
    return await Sqlite().compare(PATH, {PATH: before}, new)


def told(compared: Compared) -> list[tuple[str, str, str | None, str | None]]:
    assert compared.problem is None
    start = len(f"row:{PATH}:")
    return [(one.resource[start:], one.change, one.before, one.after) for one in compared.changes]


async def test_rows_are_told_by_primary_key(make: Make) -> None:
    before = make("CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT)", "INSERT INTO u VALUES (1,'a'),(2,'b')")
    after = make(
        "UPDATE u SET n='B' WHERE id=2",
        "DELETE FROM u WHERE id=1",
        "INSERT INTO u VALUES (3,'c')",
        base=before,
    )
    assert told(await compare(before, after)) == [
        ("u:1", "deleted", '{"id":1,"n":"a"}', None),
        ("u:2", "modified", '{"id":2,"n":"b"}', '{"id":2,"n":"B"}'),
        ("u:3", "created", None, '{"id":3,"n":"c"}'),
    ]


async def test_rewriting_the_file_changes_no_row(make: Make) -> None:
    before = make(
        "CREATE TABLE t (n TEXT)", "INSERT INTO t VALUES ('a'),('b'),('c')", "DELETE FROM t WHERE n='a'"
    )
    database = sqlite3.connect(":memory:")
    database.deserialize(before)
    database.execute("VACUUM")
    after = database.serialize()
    database.close()
    assert after != before
    assert told(await compare(before, after)) == []


async def test_tables_without_a_key_go_by_rowid_and_equal_rows_are_equal(make: Make) -> None:
    before = make("CREATE TABLE t (n TEXT)", "INSERT INTO t VALUES ('a'),('a'),('b')")
    after = make("DELETE FROM t WHERE rowid=1", base=before)
    assert told(await compare(before, after)) == [("t:1", "deleted", '{"n":"a"}', None)]


async def test_tables_without_rowid_and_keys_of_two_columns(make: Make) -> None:
    before = make(
        "CREATE TABLE t (a TEXT, b INT, c INT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "INSERT INTO t VALUES ('x',1,0)",
    )
    after = make("UPDATE t SET c=5", base=before)
    assert [one[0] for one in told(await compare(before, after))] == ['t:["x",1]']


async def test_blobs_reals_nulls_and_zero_bytes(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    after = make(
        "INSERT INTO t VALUES (1, x'00ff'), (2, zeroblob(1000)), (3, 1.5), (4, NULL), (5, 'a'||char(0)||'b')",
        "INSERT INTO t VALUES (6, 9e999)",
        base=before,
    )
    values = [json.loads(one[3] or "")["v"] for one in told(await compare(before, after))]
    assert values[0] == {"blob": "00ff"}
    assert values[1]["bytes"] == 1000
    assert values[2:] == [1.5, None, "a\0b", {"real": "inf"}]


async def test_text_that_is_no_utf8_is_kept(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    after = make("INSERT INTO t VALUES (1, CAST(x'ff41' AS TEXT))", base=before)
    assert told(await compare(before, after))[0][3] == '{"id":1,"v":"\udcffA"}'


async def test_a_long_row_is_its_digest(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    after = make("INSERT INTO t VALUES (1, printf('%.*c', 5000, 'x'))", base=before)
    assert (told(await compare(before, after))[0][3] or "").startswith("sha256:")


async def test_a_dropped_table_is_told_with_its_rows_and_is_lost(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    compared = await compare(before, make("DROP TABLE t", base=before))
    assert [(one[0], one[1]) for one in told(compared)] == [("t", "deleted"), ("t:1", "deleted")]
    assert compared.changes[0].irreversible is True


async def test_what_is_still_in_the_write_ahead_log_counts(make: Make, tmp_path: Path) -> None:
    before = make("PRAGMA journal_mode=WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY)")
    path = tmp_path / "wal.db"
    path.write_bytes(before)
    database = sqlite3.connect(path)
    database.execute("INSERT INTO t VALUES (1)")
    database.commit()
    after, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    database.close()
    assert [one[0] for one in told(await compare(before, after, wal=log))] == ["t:1"]


async def test_virtual_tables_views_and_triggers_are_never_asked(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    after = make(
        "CREATE VIEW v AS SELECT randomblob(1000000000) FROM t",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
        base=before,
    )
    names = [one[0] for one in told(await compare(before, after))]
    assert {"v", "f", "trigger g"} <= set(names)
    assert not [name for name in names if name.startswith(("v:", "f:"))]


async def test_a_file_that_is_no_database_is_one_file(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    compared = await compare(before, b"SQLite format 3\0" + b"garbage" * 2000)
    assert compared.problem is not None
    assert compared.changes == ()


async def test_a_cut_off_database_is_one_file(make: Make) -> None:
    rows = ",".join(f"({number}, '{'x' * 200}')" for number in range(500))
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v)", f"INSERT INTO t VALUES {rows}")
    assert (await compare(before, before[: len(before) // 2])).problem is not None


async def test_a_journal_that_names_another_file_is_not_followed(make: Make, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    name = str(victim).encode()
    journal = bytes.fromhex("d9d505f920a163d7") + b"\0" * 504 + name + bytes.fromhex("d9d505f920a163d7")
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    compared = await compare(before, before + b"", journal=journal)
    assert compared.problem == "its journal names another file"
    assert victim.read_text() == "kept"


async def test_a_table_that_never_ends_is_one_file(make: Make) -> None:
    before = make("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200002) INSERT INTO t SELECT i FROM n"
    problem = (await compare(before, make(many, base=before))).problem
    assert problem is not None
    assert "rows" in problem
