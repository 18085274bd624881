"""What does a new suite start as?"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from evalkit.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_SUITE = """\
name = "{name}"
version = "0.1"
description = "What this suite measures, in one sentence."
tasks = ["tasks/*"]

[run]
epochs = 1
step_limit = 30

[defaults.agent]
timeout_sec = 300
"""

_TASK = """\
schema_version = "1.4"

[environment]
network_mode = "no-network"

[verifier]
timeout_sec = 60

[metadata.evalkit]
requires = ["awk", "python3"]
skills = ["text"]
difficulty = "easy"
minutes = 2

[metadata.evalkit.grading]
mode = "sealed"
keep = ["/app/out"]
checks = ["total"]
nonce = true

[metadata.evalkit.effects]
required = ["/app/out/**"]
allowed = ["/app/out", "/app/out/**"]
"""

_INSTRUCTION = """\
The file `/app/orders.csv` lists orders: customer, amount.

Write the sum of all amounts into `/app/out/total.txt`, as one number with two decimals.
Leave `orders.csv` as it is.
"""

_DOCKERFILE = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY orders.csv .
"""

_ORDERS = """\
customer,amount
ada,12.50
grace,7.25
ada,30.00
edsger,0.75
"""

_TEST = """\
#!/bin/sh
exec python3 -I -B "$(dirname "$0")/check.py"
"""

_CHECK = '''\
"""Is the sum right? Only what the agent delivered is read; the expected value is not in its environment."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader

grader = Grader()
grader.file("total", "out/total.txt", lambda text: text.strip() == "50.50")
grader.finish()
'''

_HELPER = "grading/helper/evalkit_grader"

_SOLVE = """\
#!/bin/sh
set -e

# step: I look at the file before I compute anything.
head -n 3 /app/orders.csv

# step: The amounts are in the second column, below one header line; I sum them up.
mkdir -p /app/out
awk -F, 'NR > 1 { sum += $2 } END { printf "%.2f\\n", sum }' /app/orders.csv > /app/out/total.txt

# step: I check what I wrote.
cat /app/out/total.txt
"""


def new_suite(path: Path, name: str) -> tuple[Path, ...]:
    """Write a small suite that works at once into `path`, and return the files written.

    Raises UsageError where something is there already or `name` cannot name a suite.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a suite", hint="Use letters, digits, dots, dashes and underscores."
        )
    task = path / "tasks" / "sum-orders"
    written = {
        path / "suite.toml": _SUITE.format(name=name),
        task / "task.toml": _TASK,
        task / "instruction.md": _INSTRUCTION,
        task / "environment" / "Dockerfile": _DOCKERFILE,
        task / "environment" / "orders.csv": _ORDERS,
        task / "tests" / "test.sh": _TEST,
        task / "tests" / "check.py": _CHECK,
        task / "solution" / "solve.sh": _SOLVE,
    }
    for module in files("evalkit").joinpath(_HELPER).iterdir():
        if module.name.endswith(".py"):
            written[task / "tests" / "evalkit_grader" / module.name] = module.read_text("utf-8")
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageError(
                "something is there already", where=str(path), hint="Choose a folder that is new or empty."
            )
        for file, text in written.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if file.suffix == ".sh":
                file.chmod(0o755)
    except OSError as error:
        raise UsageError(f"the suite cannot be written: {error.strerror}", where=str(path)) from None
    return tuple(written)
