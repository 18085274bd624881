#!/bin/bash
# step: I catch the errors per file and per reading, and add what is missing.
python3 - <<'PY'
from pathlib import Path
path = Path("pipeline.py")
text = path.read_text()
text = text.replace("for path in inbox.iterdir():\n        for reading in read(path):\n            temperature = celsius(reading)\n",
    "for path in sorted(inbox.iterdir()):\n        try:\n            readings = list(read(path))\n        except Exception:\n            rejected.append({'file': path.name, 'line': None, 'reason': 'file', 'raw': None})\n            continue\n"
    "        for line, reading in enumerate(readings, 1):\n            try:\n                temperature = celsius(reading)\n            except Exception:\n                rejected.append({'file': path.name, 'line': line, 'reason': 'value', 'raw': str(reading)})\n                continue\n")
text = text.replace('    return value\n', '    return value - 273.15 if reading["unit"] == "K" else value\n', 1)
text = text.replace('"quarantine.ndjson", "a"', '"quarantine.ndjson", "w"').replace("\n\nmain()", '\n    (out / "summary.json").write_text(json.dumps({"counted": sum(map(len, days.values()))}))\n    sys.exit(3 if rejected else 0)\n\n\nmain()')
text = text.replace('days[reading["station"], reading["time"][:10]]', 'days[str(reading["station"]), str(reading["time"])[:10]]')
path.write_text(text)
PY
python3 -B pipeline.py inbox out; echo "exit $?"; head out/*
