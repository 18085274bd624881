#!/bin/bash
# step: I write a short program that satisfies the examples.
cat > worklog.py <<'PY'
import argparse, sys
from collections import defaultdict
from datetime import datetime, timedelta

p = argparse.ArgumentParser()
p.add_argument("command", choices=["total", "report", "check"]); p.add_argument("file")
p.add_argument("--from", dest="a"); p.add_argument("--to", dest="b"); p.add_argument("--project"); p.add_argument("--by", default="project")
o = p.parse_args()
entries, bad = [], 0
for n, line in enumerate(open(o.file), 1):
    w = line.split()
    if not w or w[0].startswith("#"): continue
    try:
        if w[2] != w[2].lower() or len(w[1]) != 11: raise ValueError
        s, e = (datetime.strptime(w[0] + t, "%Y-%m-%d%H:%M") for t in w[1].split("-"))
        if e < s: e += timedelta(days=1)
        entries.append((n, w[0], s, e, w[2]))
    except (ValueError, IndexError):
        print(f"{o.file}:{n}: invalid entry", file=sys.stderr); bad = 1
if bad: sys.exit(1)
f = lambda m: f"{m // 60}:{m % 60:02d}"
if o.command == "check":
    for i, x in enumerate(entries):
        for y in entries[:i]:
            if x[2] < y[3] and y[2] < x[3]:
                print(f"{x[0]}: overlaps line {y[0]}"); bad = 1; break
    sys.exit(bad)
sums = defaultdict(int)
for n, d, s, e, pr in entries:
    if (o.a and d < o.a) or (o.b and d > o.b) or (o.project and pr != o.project): continue
    sums[{"project": pr, "day": d, "week": s.strftime("%Y-W%W")}[o.by]] += (e - s).seconds // 60
if o.command == "total": print(f(sum(sums.values())))
else:
    for k in sorted(sums, key=(lambda k: -sums[k]) if o.by == "project" else None): print(f"{k}\t{f(sums[k])}")
PY

# step: And I compare with the examples.
for file in examples/*.cmd; do sh $file 2>&1 | diff - ${file%.cmd}.out && echo "$file ok"; done
