#!/bin/bash
# step: SQL can do all of this in one script.
cat > migrate.py <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
if db.execute("PRAGMA user_version").fetchone()[0] == 2: sys.exit(0)
db.executescript("""
DROP VIEW open_orders;
ALTER TABLE orders RENAME TO old_orders; ALTER TABLE items RENAME TO old_items;
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total_cents INTEGER NOT NULL,
  placed TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'cancelled')));
CREATE TABLE items (order_id INTEGER NOT NULL REFERENCES orders (id), sku TEXT NOT NULL, quantity INTEGER NOT NULL);
CREATE INDEX orders_by_customer ON orders (customer_id);
INSERT INTO customers (email, name) SELECT lower(trim(email)), trim(max(customer)) FROM old_orders WHERE trim(email) <> '' GROUP BY 1 ORDER BY min(id);
INSERT INTO orders SELECT id, (SELECT c.id FROM customers c WHERE c.email = lower(trim(o.email))), CAST(replace(total, ',', '') * 100 AS INTEGER), placed, status FROM old_orders o;
INSERT INTO items SELECT * FROM old_items WHERE order_id IN (SELECT id FROM orders);
DROP TABLE old_items; DROP TABLE old_orders;
CREATE VIEW open_orders AS SELECT orders.id, customers.name AS customer, orders.total_cents FROM orders LEFT JOIN customers ON customers.id = orders.customer_id WHERE orders.status = 'open';
PRAGMA user_version = 2;
""")
PY
python3 migrate.py shop.db; echo "exit $?"
