"""Is the database migrated as SCHEMA.md says, and does the script do it for other databases, all or nothing?"""

import json
import random
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, Output, require

grader = Grader()
BEFORE = json.loads((Path(__file__).parent / "shop.json").read_text(encoding="utf-8"))

V1 = """
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer TEXT, email TEXT, total TEXT, placed TEXT, status TEXT
);
CREATE TABLE items (order_id INTEGER, sku TEXT, quantity INTEGER);
CREATE VIEW open_orders AS SELECT id, customer, total FROM orders WHERE status = 'open';
PRAGMA user_version = 1;
"""
# Reads a database that the agent made: in a child, because opening it must not be able to harm or hang the checks.
DUMP = """
import json, sqlite3
db = sqlite3.connect("file:{name}?mode=ro", uri=True)
rows = lambda query: db.execute(query).fetchall()
names = [name for (name,) in rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
found = dict(
    version=rows("PRAGMA user_version")[0][0],
    things=sorted(rows("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")),
    sql=sorted(rows("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")),
    keys=dict((name, sorted(key[2:5] for key in rows("PRAGMA foreign_key_list(" + name + ")"))) for name in names),
    columns=dict((name, [[c[1], c[2], c[3], c[5]] for c in rows("PRAGMA table_info(" + name + ")")]) for name in names),
    index=[c[2] for c in rows("PRAGMA index_info(orders_by_customer)")],
    rows=dict((name, sorted(rows("SELECT * FROM " + name), key=repr)) for name in names),
    broken=rows("PRAGMA foreign_key_check") + [row for row in rows("PRAGMA integrity_check") if row[0] != "ok"],
)
print(json.dumps(found))
"""
PROBE = """
import json, sqlite3
db, accepted = sqlite3.connect("other.db"), []
for values in ("orders VALUES (9001, 1, 5, '2025-01-01', 'lost')", "orders VALUES (9002, 1, NULL, '2025-01-01', 'open')",
               "customers SELECT NULL, email, name FROM customers LIMIT 1"):
    try:
        db.execute("INSERT INTO " + values)
        accepted.append(values)
    except sqlite3.IntegrityError:
        pass
print(json.dumps(accepted))
"""
TABLES = {
    "customers": [["id", "INTEGER", 0, 1], ["email", "TEXT", 1, 0], ["name", "TEXT", 1, 0]],
    "orders": [
        ["id", "INTEGER", 0, 1], ["customer_id", "INTEGER", 0, 0], ["total_cents", "INTEGER", 1, 0],
        ["placed", "TEXT", 1, 0], ["status", "TEXT", 1, 0],
    ],
    "items": [["order_id", "INTEGER", 1, 0], ["sku", "TEXT", 1, 0], ["quantity", "INTEGER", 1, 0]],
}  # fmt: skip
Rows = list[tuple]


def dump(name: str, cwd: Path) -> dict:
    return grader.call(DUMP.format(name=name), cwd)


def cents(total: str) -> int:
    whole, _, part = total.strip().replace(",", "").partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))


def migrated(orders: Rows, items: Rows) -> dict[str, Rows]:
    customers: dict[str, tuple[int, str, int, str]] = {}
    done: Rows = []
    for order, name, email, total, placed, status in sorted(orders):
        key = (email or "").strip().lower()
        number = customers[key][0] if key in customers else len(customers) + 1
        if key and (key not in customers or (placed, order) > customers[key][1:3]):
            customers[key] = (number, placed, order, name.strip())
        done.append((order, number if key else None, cents(total), placed, status))
    names = {known[0]: known[3] for known in customers.values()}
    kept = {order[0] for order in orders}
    return {
        "customers": [(known[0], email, known[3]) for email, known in customers.items()],
        "orders": done,
        "items": [item for item in items if item[0] in kept],
        "open_orders": [(row[0], names.get(row[1]), row[2]) for row in done if row[4] == "open"],
    }


def compare(found: dict, expected: dict[str, Rows]) -> None:
    require(found["version"] == 2, f"user_version is {found['version']}")
    for name, rows in expected.items():
        wanted = {json.dumps(row): rows.count(row) for row in rows}
        mine = [json.dumps(row) for row in found["rows"].get(name, [])]
        for row in {**wanted, **dict.fromkeys(mine)}:
            many = mine.count(row), wanted.get(row, 0)
            require(many[0] == many[1], f"{name} has the row {row} {many[0]} times, expected {many[1]}")


def made_up(dice: random.Random) -> tuple[Rows, Rows]:
    people = [f"p{at}@mail.example" for at in range(25)]
    orders: Rows = []
    for order in dice.sample(range(1, 5000), 300):
        mail = dice.choice(people)
        mail = dice.choice([mail, mail.upper(), f" {mail}", f"{mail.title()}\t", None, "", " \n"])
        worth = dice.choice([dice.randint(0, 9999), dice.randint(0, 10**9)])
        total = dice.choice([f"{worth // 100}.{worth % 100:02d}", f"{worth // 100:,}.{worth % 100:02d}"])
        total = dice.choice([total, f" {total}\t", f"{worth // 100}", f"{worth // 100:,}.{worth % 10}"])
        day = f"2024-{dice.randint(11, 12)}-{dice.randint(10, 12)}"
        orders.append((order, f" Name {order}", mail, total, day, dice.choice(["open", "paid", "cancelled"])))
    items = [(dice.randint(1, 5000), f"S{dice.randint(1, 9)}", dice.randint(1, 3)) for _ in range(600)]
    items += [(order[0], "S'1", 2) for order in orders[:100]] * 2
    return orders, items


def build(cwd: Path, orders: Rows, items: Rows) -> None:
    db = sqlite3.connect(cwd / "other.db")
    db.executescript(V1)
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", orders)
    db.executemany("INSERT INTO items VALUES (?, ?, ?)", items)
    db.commit()
    db.close()


def migrate(cwd: Path, code: int = 0) -> Output:
    grader.deliverable("migrate.py")
    result = grader.run([sys.executable, "-E", "-s", "-B", "migrate.py", "other.db"], cwd)
    require(
        result.code == code,
        f"migrate.py ended with {result.code}, expected {code}: {result.err.strip()[-200:]}",
    )
    return result


def migrated_copy() -> tuple[Path, Rows, Rows]:
    cwd = grader.workspace()
    orders, items = made_up(random.Random(2718))
    build(cwd, orders, items)
    migrate(cwd)
    return cwd, orders, items


def shop_migrated() -> None:
    require(not (grader.app / "shop.db").is_symlink(), "shop.db is a link")
    rows = [[tuple(row) for row in BEFORE[name]] for name in ("orders", "items")]
    compare(dump("shop.db", grader.workspace()), migrated(*rows))


def other_database() -> None:
    cwd, orders, items = migrated_copy()
    compare(dump("other.db", cwd), migrated(orders, items))


def schema() -> None:
    cwd = migrated_copy()[0]
    for name in ("shop.db", "other.db"):
        found = dump(name, cwd)
        things = [
            ["index", "orders_by_customer"],
            ["table", "customers"],
            ["table", "items"],
            ["table", "orders"],
        ]
        require(found["things"] == [*things, ["view", "open_orders"]], f"{name} holds {found['things']}")
        for table, columns in TABLES.items():
            require(found["columns"][table] == columns, f"{table} in {name}: {found['columns'][table]}")
        view = [column[0] for column in found["columns"]["open_orders"]]
        require(view == ["id", "customer", "total_cents"], f"open_orders in {name} has the columns {view}")
        require(found["index"] == ["customer_id"], f"orders_by_customer in {name} is on {found['index']}")
        keys = found["keys"]
        require(
            keys["orders"] == [["customers", "customer_id", "id"]],
            f"orders in {name} refers to {keys['orders']}",
        )
        require(keys["items"] == [["orders", "order_id", "id"]], f"items in {name} refers to {keys['items']}")
        require(not found["broken"], f"{name} is inconsistent: {found['broken'][:3]}")
    accepted = grader.call(PROBE, cwd)
    require(not accepted, f"the new tables accept {accepted}")


def bad_data_changes_nothing() -> None:
    dice = random.Random(31)
    for bad in (["12.5O"], [None, "1.234", "12,50"], ["", "-", "1,25.00", "1e3", "12 50", "1_000"]):
        cwd = grader.workspace()
        orders, items = made_up(dice)
        blamed = dice.sample(range(len(orders)), len(bad))
        for at, total in zip(blamed, bad, strict=True):
            orders[at] = (90001 + at, *orders[at][1:3], total, *orders[at][4:])
        build(cwd, orders, items)
        before, files = dump("other.db", cwd), sorted(path.name for path in cwd.iterdir())
        message = migrate(cwd, code=1).err
        require(dump("other.db", cwd) == before, f"the database was changed in spite of the totals {bad}")
        left = {path.name for path in cwd.iterdir()} - {*files}
        require(not left, f"a failed migration left {sorted(left)} behind")
        for at, total in zip(blamed, bad, strict=True):
            require(
                str(90001 + at) in message, f"the message does not name the order with the total {total!r}"
            )


def second_run_changes_nothing() -> None:
    cwd = migrated_copy()[0]
    db = sqlite3.connect(cwd / "other.db")
    db.execute("INSERT INTO customers VALUES (500, 'New@mail.example', 'New')")
    db.execute("INSERT INTO orders VALUES (9009, 500, 1, '2025-01-01', 'open')")
    db.commit()
    db.close()
    before = dump("other.db", cwd)
    migrate(cwd)
    require(dump("other.db", cwd) == before, "the second run changed the database")


grader.checks({
    "shop-migrated": shop_migrated,
    "other-database": other_database,
    "schema": schema,
    "bad-data-changes-nothing": bad_data_changes_nothing,
    "second-run-changes-nothing": second_run_changes_nothing,
})  # fmt: skip
grader.finish()
