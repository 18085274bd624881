"""A clock that jumps moves no deadline and no duration."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalkit.sandbox

pytestmark = [pytest.mark.docker]

JUMPING = """
import asyncio, itertools, time
real, calls = time.time, itertools.count()
YEAR = 366 * 86400
time.time = lambda: real() + (0, YEAR, -YEAR)[next(calls) % 3]
time.time_ns = lambda: int(time.time() * 10**9)

from pathlib import Path
from evalkit.sandbox import Environment, Limits
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.trajectory.artifacts import ArtifactStore

async def main():
    sandbox = DockerSandbox(Environment(limits=Limits(storage_mb=50)), run_id="run-clock", trial_id="trial")
    await sandbox.start()
    try:
        began = time.monotonic()
        result = await sandbox.exec("sleep 0.3; echo done")
        assert result.stdout.text == "done\\n" and 0.3 <= result.duration_s < 5, result
        result = await sandbox.exec("echo early; sleep 60", timeout_s=1)
        assert result.timed_out and 1 <= result.duration_s < 6, result
        result = await sandbox.exec("sleep 2.5; echo lived", timeout_s=30)
        assert not result.timed_out and result.stdout.text == "lived\\n", result
        await sandbox.write_file("x", b"1")
        assert await sandbox.read_file("x") == b"1"
        await sandbox.halt()
        assert "/app/x" in await sandbox.snapshot()
    finally:
        await sandbox.stop()
    assert time.monotonic() - began < 40
    assert next(calls) > 3, "the clock was never asked"

asyncio.run(main())
"""


def test_a_jumping_clock_changes_nothing(docker_support: None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", JUMPING], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_clock_on_the_wall_is_read_for_the_ages_of_files_only() -> None:
    root = Path(evalkit.sandbox.__file__).parent
    readers = set[str]()
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(
                    value=ast.Name(id="time"), attr="time" | "time_ns" | "localtime" | "gmtime"
                ):
                    readers.add(path.relative_to(root).as_posix())
                case ast.Attribute(value=ast.Name(id="datetime"), attr="now" | "utcnow" | "today"):
                    readers.add(path.relative_to(root).as_posix())
                case ast.ImportFrom(module="time", names=names):
                    assert not {one.name for one in names} & {"time", "time_ns"}
                case _:
                    pass
    assert readers <= {"docker/records.py", "docker/transfer.py", "local/scratch.py"}
