#!/bin/bash
# step: I keep every line that can be parsed.
python3 - <<'PY'
import json
good = []
for line in open("inventory.json", encoding="utf-8-sig", errors="replace"):
    try:
        good.append(json.loads(line.strip().rstrip(",")))
    except ValueError:
        print("skipped", line[:60])
json.dump(good, open("inventory.json", "w"), indent=1)
PY
python3 -m json.tool inventory.json > /dev/null && echo valid
