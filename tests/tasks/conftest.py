"""A small valid task to be broken in one place at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest

TASK_TOML = """\
schema_version = "1.4"

[agent]
timeout_sec = 60

[environment]
network_mode = "no-network"

[metadata.evalkit]
skills = ["text"]

[metadata.evalkit.grading]
mode = "sealed"
keep = ["/app/out"]
"""

WriteTask = Callable[..., Path]


@pytest.fixture
def write_task(tmp_path: Path) -> WriteTask:
    """Writes a valid task folder; `toml` replaces its task.toml, `files` are added (None: taken away)."""

    def write(
        toml: str = TASK_TOML,
        *,
        name: str = "sum",
        files: dict[str, str | None] | None = None,
        under: str = "",
    ) -> Path:
        root = tmp_path / under / name
        contents: dict[str, str | None] = {
            "task.toml": toml,
            "instruction.md": "Write the sum into /app/out/total.txt.\n",
            "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY orders.csv .\n",
            "environment/orders.csv": "1\n2\n",
            "tests/test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n",
            "solution/solve.sh": "#!/bin/sh\n# step: I add up.\necho 3 > /app/out/total.txt\n",
            **(files or {}),
        }
        for file, text in contents.items():
            if text is not None:
                path = root / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        return root

    return write
