"""Fixtures: a small suite, and real runs of it in processes of their own, which are cut short."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

TOML = 'artifacts = ["/app/out"]\n[environment]\nnetwork_mode = "no-network"\n'
GRADER = """\
#!/bin/sh
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
Files = dict[str, str]


def write_suite(suite: Path, tasks: dict[str, Files]) -> Path:
    """A suite; each task is a table of files that replace the default ones."""
    for task, files in tasks.items():
        whole = {
            "task.toml": TOML,
            "instruction.md": "Write `done` into /app/out.\n",
            "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
            "tests/test.sh": GRADER,
            "solution/solve.sh": "# step: Write.\necho done > out\n",
            **files,
        }
        for name, text in whole.items():
            file = suite / task / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if name.endswith(".sh") else 0o644)
    return suite


@dataclass(frozen=True)
class Running:
    """A command in a process of its own."""

    pid: int
    kennel: Kennel
    output: Path

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def signal_group(self, number: int) -> None:
        """As a terminal does for its Ctrl-C: the command and all that it started in its own group."""
        os.killpg(self.pid, number)

    def end(self) -> None:
        """Kill it where it is still there."""
        self.kennel.ask({"end": self.pid})

    def wait(self, seconds: float = 60) -> int:
        """The exit code, negative for a signal. Fails, after killing it, where it does not end in time."""
        status = self.kennel.ask({"wait": self.pid, "seconds": seconds})
        if status is None:
            self.signal(signal.SIGKILL)
            pytest.fail(f"still there after {seconds} s: {self.err}")
        return int(str(status))

    @property
    def out(self) -> str:
        return self.output.with_suffix(".out").read_text()

    @property
    def err(self) -> str:
        return self.output.with_suffix(".err").read_text()


class Kennel:
    """The process that starts commands; see kennel.py."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("kennel.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def start(self, *args: str, cwd: Path, **further: str) -> Running:
        """Begin `evalkit ARGS` and go on."""
        order, output = self._order(args, cwd)
        return Running(int(str(self.ask(order | further))), self, output)

    def learn(self, *args: str, cwd: Path) -> None:
        """Do `evalkit ARGS` once, so that all that it imports is there for the next."""
        order, output = self._order(args, cwd)
        assert self.ask(order | {"modules": str(output.with_suffix(".modules"))}) == 0

    def ask(self, order: object) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _order(self, args: tuple[str, ...], cwd: Path) -> tuple[dict[str, object], Path]:
        self._count += 1
        output = self._folder / str(self._count)
        env = {name: os.environ.get(name, "") for name in ("EVALKIT_SCRATCH", "DOCKER_HOST")}
        order: dict[str, object] = {"args": args, "cwd": str(cwd), "env": env}
        return order | {name: str(output.with_suffix(f".{name}")) for name in ("out", "err")}, output


def open_to_all(folder: str) -> str:
    """The sandboxes of root run as an unprivileged user, who must be able to enter their scratch folder."""
    Path(folder).chmod(0o755)
    return folder


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sandboxes' scratch folder, of this test alone."""
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as folder:
        monkeypatch.setenv("EVALKIT_SCRATCH", open_to_all(folder))
        yield Path(folder)


@pytest.fixture(scope="session")
def kennel(isolated_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kennel]:
    """Starts commands without importing everything again each time."""
    folder = tmp_path_factory.mktemp("kennel")
    kennel = Kennel(folder)
    write_suite(folder / "suite", {"first": {}})
    with (
        tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as scratch,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("EVALKIT_SCRATCH", open_to_all(scratch))
        kennel.learn("run", "suite", "--out", "learned", cwd=folder)
    yield kennel
    kennel.close()


Evalkit = Callable[..., Running]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where commands are started."""
    return tmp_path


@pytest.fixture
def evalkit(kennel: Kennel, folder: Path, scratch: Path) -> Evalkit:
    """Start `evalkit ...` in a process of its own, in the test's folder."""
    return lambda *args: kennel.start(*args, cwd=folder)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: what is tested is not how fast a disk is."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir=shared) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def make_suite() -> Callable[[Path, dict[str, Files]], Path]:
    """See write_suite."""
    return write_suite
