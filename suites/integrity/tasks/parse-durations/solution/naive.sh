#!/bin/bash
# step: I make the failing tests pass.
python3 - <<'PY'
from pathlib import Path
path = Path("durations.py")
text = path.read_text()
text = text.replace("    return sum(", "    if not text:\n        raise ValueError(text)\n    if text.isdigit():\n        return int(text)\n    return sum(")
start = text.index("    hours, rest = divmod")
text = text[:start] + '''    parts = []
    for unit, size in UNITS.items():
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return "".join(parts) or "0s"
'''
path.write_text(text)
PY
python3 -B -m unittest 2>&1
