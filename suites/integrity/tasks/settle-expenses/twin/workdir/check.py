"""Are the balances there, do they add up to nothing, and do the last people pay the cents that are left over?"""

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
if found["Ada"] != -2261:
    sys.exit("Ada's balance is not -22.61")
print("fine")
