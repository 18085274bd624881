#!/bin/bash
# step: First the two schemas, and what is really in the database; without a sqlite3 program I use Python.
cat SCHEMA.md; python3 - <<'PY'
import sqlite3
db = sqlite3.connect("file:shop.db?mode=ro", uri=True)
for query in ("PRAGMA user_version", "SELECT count(*) FROM orders", "SELECT count(*) FROM items", "SELECT * FROM orders LIMIT 6",
              "SELECT count(*) FROM items WHERE order_id NOT IN (SELECT id FROM orders)"):
    print(query, db.execute(query).fetchall())
PY

# step: I convert in Python, because SQLite's trim and cast are too lenient, and only then change the database, in one transaction. executescript would commit in between, so I execute one statement at a time with isolation_level None. Cents are computed from the digits, never through floats.
cat > migrate.py <<'PY'
"""Migrates a shop's database from schema version 1 to 2, all or nothing."""

import re
import sqlite3
import sys

TOTAL = re.compile(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]{1,2}))?")
SCHEMA = [
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL)",
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        customer_id INTEGER REFERENCES customers (id),
        total_cents INTEGER NOT NULL,
        placed TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'cancelled'))
    )""",
    """CREATE TABLE items (
        order_id INTEGER NOT NULL REFERENCES orders (id),
        sku TEXT NOT NULL,
        quantity INTEGER NOT NULL
    )""",
    "CREATE INDEX orders_by_customer ON orders (customer_id)",
    """CREATE VIEW open_orders AS
        SELECT orders.id, customers.name AS customer, orders.total_cents
        FROM orders LEFT JOIN customers ON customers.id = orders.customer_id
        WHERE orders.status = 'open'""",
]


def cents(total):
    found = TOTAL.fullmatch((total or "").strip())
    if not found:
        return None
    return int(found[1].replace(",", "")) * 100 + int((found[2] or "").ljust(2, "0"))


def convert(old):
    """Customers and orders of version 2, and the ids of orders whose total is no amount."""
    latest, numbers, orders, bad = {}, {}, [], []
    for order, name, email, total, placed, status in old:
        email = (email or "").strip().lower()
        if email:
            numbers.setdefault(email, len(numbers) + 1)
            latest[email] = max(latest.get(email, ("", 0, "")), (placed, order, name.strip()))
        if cents(total) is None:
            bad.append(order)
        orders.append((order, numbers.get(email), cents(total), placed, status))
    customers = [(number, email, latest[email][2]) for email, number in numbers.items()]
    return customers, orders, bad


def migrate(db):
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == 2:
        return []
    old = db.execute("SELECT id, customer, email, total, placed, status FROM orders ORDER BY id").fetchall()
    items = db.execute(
        "SELECT order_id, sku, quantity FROM items WHERE order_id IN (SELECT id FROM orders) ORDER BY rowid"
    ).fetchall()
    customers, orders, bad = convert(old)
    if bad:
        return bad
    for statement in ("DROP VIEW open_orders", "DROP TABLE items", "DROP TABLE orders", *SCHEMA):
        db.execute(statement)
    db.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers)
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", orders)
    db.executemany("INSERT INTO items VALUES (?, ?, ?)", items)
    db.execute("PRAGMA user_version = 2")
    return []


def main():
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    try:
        bad = migrate(db)
        db.execute("ROLLBACK" if bad else "COMMIT")
    finally:
        db.close()
    if bad:
        print("orders whose total is no amount:", *bad, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
PY
cp shop.db /tmp/try.db && python3 migrate.py /tmp/try.db

# step: Two orders hold no amount. Before I correct anything, I look at what was typed, and that the copy really is unchanged.
cmp shop.db /tmp/try.db && echo unchanged; python3 -c '
import sqlite3
print(sqlite3.connect("file:shop.db?mode=ro", uri=True).execute("SELECT * FROM orders WHERE id IN (1065, 1122)").fetchall())'

# step: Both have the letter O in place of a zero. I correct these two values and nothing else, and try once more on a copy.
python3 -c '
import sqlite3
db = sqlite3.connect("shop.db")
with db:
    print(db.execute("UPDATE orders SET total = replace(total, ?, ?) WHERE id IN (1065, 1122)", ("O", "0")).rowcount)
db.close()'
cp shop.db /tmp/try.db && python3 migrate.py /tmp/try.db; echo "exit $?"

# step: It works on the copy. I compare old and new: number of orders, sum, items, names, and a second run.
python3 - <<'PY'
import sqlite3
old, new = sqlite3.connect("file:shop.db?mode=ro", uri=True), sqlite3.connect("/tmp/try.db")
print(old.execute("SELECT count(*), sum(round(100 * replace(trim(total), ',', ''))) FROM orders").fetchall(),
      new.execute("SELECT count(*), sum(total_cents) FROM orders").fetchall())
print(new.execute("SELECT * FROM customers").fetchall())
print(new.execute("SELECT count(*) FROM items").fetchall(), new.execute("PRAGMA foreign_key_check").fetchall())
print(new.execute("SELECT * FROM open_orders LIMIT 4").fetchall())
PY
python3 migrate.py /tmp/try.db; echo "second run: exit $?"; rm /tmp/try.db

# step: All numbers agree. Now the real database, and a last look at it.
python3 migrate.py shop.db; echo "exit $?"; ls; python3 -c '
import sqlite3
db = sqlite3.connect("file:shop.db?mode=ro", uri=True)
print(db.execute("PRAGMA user_version").fetchall(), db.execute("SELECT type, name FROM sqlite_master").fetchall())'
