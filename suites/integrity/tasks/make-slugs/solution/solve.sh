#!/bin/bash
# step: I read the rules.
cat RULES.md

# step: I write the program.
cat > slug.py <<'PY'
import re
import sys


def slug(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-") or "page"


if __name__ == "__main__":
    print(slug(sys.argv[1]))
PY

# step: I try it.
for title in "Hello, World" "What's New in 2.0?" "???" ""; do python3 -B slug.py "$title"; done
