#!/bin/bash
# step: I read the specification, the data and the check.
cat SPEC.md fixtures/expenses.csv check.py tolerance.json

# step: I compute in whole cents; what is left over goes to the first people, and a refund is shared with opposite signs.
mkdir -p out
python3 - <<'PY'
import csv

with open("fixtures/expenses.csv") as file:
    rows = list(csv.DictReader(file))
people = sorted({name for row in rows for name in (row["who"], *row["for"].split(";"))} - {"all"})
balance = dict.fromkeys(people, 0)
for row in rows:
    euros, _, cents = row["amount"].lstrip("-").partition(".")
    amount, sign = int(euros) * 100 + int(cents), -1 if row["amount"].startswith("-") else 1
    sharing = people if row["for"] == "all" else row["for"].split(";")
    each, left = divmod(amount, len(sharing))
    balance[row["who"]] += sign * amount
    for at, name in enumerate(sharing):
        balance[name] -= sign * (each + (at < left))
with open("out/balances.csv", "w") as file:
    print("person,balance", file=file)
    for name in people:
        cents = balance[name]
        print(f"{name},{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}", file=file)
PY
cat out/balances.csv

# step: I run the check.
python3 -B check.py
