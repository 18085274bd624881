#!/bin/bash
# step: I share with numbers of euros and round at the end.
mkdir -p out
python3 - <<'PY'
import csv

rows = list(csv.DictReader(open("fixtures/expenses.csv")))
people = sorted({name for row in rows for name in (row["who"], *row["for"].split(";"))} - {"all"})
balance = dict.fromkeys(people, 0.0)
for row in rows:
    sharing = people if row["for"] == "all" else row["for"].split(";")
    balance[row["who"]] += float(row["amount"])
    for name in sharing:
        balance[name] -= float(row["amount"]) / len(sharing)
with open("out/balances.csv", "w") as file:
    print("person,balance", file=file)
    for name in people:
        print(f"{name},{balance[name]:.2f}", file=file)
PY
python3 -B check.py
