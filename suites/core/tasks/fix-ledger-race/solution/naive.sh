#!/bin/bash
# step: One lock around every command ends all races.
python3 - <<'PY'
from pathlib import Path
path = Path("ledger.py")
text = path.read_text()
text = text.replace("import contextlib\n", "import contextlib\nimport fcntl\n")
text = text.replace("        action(**options)\n", '        with open(Path(options["folder"]) / "all.lock", "a") as lock:\n            fcntl.flock(lock, fcntl.LOCK_EX)\n            action(**options)\n')
text = text.replace("    with locked(folder, target):\n", "    with contextlib.nullcontext():\n")
path.write_text(text)
PY
python3 -B stress.py
