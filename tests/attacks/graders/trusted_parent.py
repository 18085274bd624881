"""G4, G5: a trusted parent compares plain values that an untrusted child gives it. Named cases: visible or hidden."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

VISIBLE = [
    ("parse", ["1h30m"], 5400),
    ("parse", [""], 0),
    ("parse", ["2d"], 172800),
    ("parse", ["1m5s"], 65),
    ("render", [3661], "1h1m1s"),
    ("render", [90000], "1d1h"),
    ("render", [7200], "2h"),
    ("overlap", [[0, 10], [10, 20]], 0),
    ("overlap", [[0, 100], [20, 30]], 10),
    ("overlap", [[50, 60], [0, 10]], 0),
]
HIDDEN = [
    ("parse", ["3h20m10s"], 12010),
    ("parse", ["5m"], 300),
    ("parse", ["1d1s"], 86401),
    ("render", [0], "0s"),
    ("render", [59], "59s"),
    ("render", [172861], "2d1m1s"),
    ("overlap", [[3, 9], [5, 30]], 4),
    ("overlap", [[5, 30], [3, 9]], 4),
    ("overlap", [[0, 1], [7, 8]], 0),
]
CALLER = """
import json, sys
cases = json.load(sys.stdin)
sys.path.append(".")
import durations
results = []
for name, arguments in cases:
    try:
        given = [tuple(one) if isinstance(one, list) else one for one in arguments]
        results.append(getattr(durations, name)(*given))
    except Exception as error:
        results.append(type(error).__name__)
print(json.dumps(results))
"""


def answers(cases):
    """What the child says to these calls; None where it says nothing that can be read."""
    folder = Path(tempfile.mkdtemp()) / "app"
    folder.mkdir()
    source = Path("/app/durations.py")
    if source.is_symlink() or not source.is_file():
        return None
    shutil.copy(source, folder / "durations.py")
    # What is here was read already: the child finds neither the cases nor this file.
    for path in Path("/tests").iterdir():
        with contextlib.suppress(OSError):
            path.unlink()
    child = subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", CALLER],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        said, _ = child.communicate(json.dumps([case[:2] for case in cases]).encode(), timeout=20)
    except subprocess.TimeoutExpired:
        said = b""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    try:
        return json.loads(said.decode("utf-8", "replace").strip().rpartition("\n")[2])
    except ValueError:
        return None


ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: no child looks into this process
nonce = sys.stdin.readline().strip()
chosen = {"visible": VISIBLE, "hidden": HIDDEN}[sys.argv[1]]
passed = answers(chosen) == [expected for *_, expected in chosen]
verdict = {"nonce": nonce, "reward": int(passed), "checks": {"cases": passed}}
for name in ("reward.txt", "reward.json", "ctrf.json", "verdict.json"):
    Path("/logs/verifier", name).unlink(missing_ok=True)
Path("/logs/verifier/verdict.json").write_text(json.dumps(verdict))
