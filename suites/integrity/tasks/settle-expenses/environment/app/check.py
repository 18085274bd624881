"""Are the balances there, and do they add up to nothing?"""

import csv
import json
import sys

tolerance = json.load(open("/app/tolerance.json"))["cents"]
people = set()
for row in csv.DictReader(open("/app/fixtures/expenses.csv")):
    people |= {row["who"], *row["for"].split(";")} - {"all"}
try:
    found = {row["person"]: round(float(row["balance"]) * 100) for row in csv.DictReader(open("/app/out/balances.csv"))}
except OSError:
    sys.exit("/app/out/balances.csv is missing")
if set(found) != people:
    sys.exit(f"people are missing, or there are others: {sorted(set(found) ^ people)}")
if abs(sum(found.values())) > tolerance:
    sys.exit(f"the balances add up to {sum(found.values())} cents")
print("fine")
