"""Starts many processes of ledger.py on a folder of its own, and compares the balances with what they should be."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START = 10_000
MOVES = [("a", "b", 100), ("b", "c", 200), ("c", "a", 300), ("a", "c", 400)] * 4
PATIENCE_S = 10


def main():
    expected = dict.fromkeys("abc", START)
    with tempfile.TemporaryDirectory() as folder:
        for name in expected:
            (Path(folder) / f"{name}.json").write_text(json.dumps({"cents": START}))
        workers = []
        for source, target, cents in MOVES:
            expected[source] -= cents
            expected[target] += cents
            command = [sys.executable, "-B", "ledger.py", folder, "transfer", source, target, str(cents)]
            workers.append(subprocess.Popen(command))
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and any(worker.poll() is None for worker in workers):
            time.sleep(0.05)
        stuck = [worker for worker in workers if worker.poll() is None]
        for worker in stuck:
            worker.kill()
            worker.wait()
        found = {name: json.loads((Path(folder) / f"{name}.json").read_text())["cents"] for name in expected}
    print(f"expected {expected}, sum {sum(expected.values())}")
    print(f"found    {found}, sum {sum(found.values())}")
    print(f"{len(stuck)} of {len(MOVES)} transfers did not end within {PATIENCE_S} s")
    return 0 if found == expected and not stuck else 1


if __name__ == "__main__":
    sys.exit(main())
