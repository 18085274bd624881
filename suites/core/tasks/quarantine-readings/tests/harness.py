"""How does a check run the agent's code, and how does its verdict get out?

Every task of this suite carries the same copy. The agent's code is never imported here: it runs in a
child, in a scratch copy of the task's directory, and only its output comes back, as text. The verdict is
signed with the nonce on standard input, where there is one: it is read before any of that code runs, and no
child may look into this process for it.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

APP, LOGS = (Path(given) for given in (sys.argv[1:] or ["/app", "/logs/verifier"]))
OUTPUT_CAP = 5_000_000
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class CheckFailedError(Exception):
    """The agent's work is wrong; the message says where."""


class Child(NamedTuple):
    process: subprocess.Popen[bytes]
    streams: tuple[IO[bytes], IO[bytes]]


class Output(NamedTuple):
    code: int | None  # None: it ran out of time
    out: str
    err: str


def require(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailedError(message)


def deliverable(name: str, folder: Path = APP) -> str:
    """The text of a file that the agent was asked for; a link could point at anything and does not count."""
    path = folder / name
    require(path.is_file() and not path.is_symlink(), f"{name} is missing or not a regular file")
    require(path.stat().st_size <= OUTPUT_CAP, f"{name} is too large")
    return path.read_text(encoding="utf-8")


def workspace() -> Path:
    """A fresh, writable copy of the task's directory, without links and bytecode."""

    def unwanted(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "__pycache__" or (Path(folder) / name).is_symlink()]

    return Path(shutil.copytree(APP, Path(tempfile.mkdtemp()) / "app", ignore=unwanted))


def start(argv: list[str], cwd: Path, **env: str) -> Child:
    """Start the agent's code; `finish` must follow. Its output goes to files: a pipe could be held open."""
    streams = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8", **env},
        stdin=subprocess.DEVNULL,
        stdout=streams[0],
        stderr=streams[1],
        start_new_session=True,
    )
    return Child(process, streams)


def finish(child: Child, timeout: float = 20) -> Output:
    """Wait for a child, end what it left behind in its session, and read what it printed."""
    try:
        code = child.process.wait(timeout)
    except subprocess.TimeoutExpired:
        code = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()
    texts: list[str] = []
    for stream in child.streams:
        stream.seek(0)
        texts.append(stream.read(OUTPUT_CAP).decode("utf-8", "replace"))
        stream.close()
    return Output(code, *texts)


def run(argv: list[str], cwd: Path, timeout: float = 20, **env: str) -> Output:
    return finish(start(argv, cwd, **env), timeout)


def call(code: str, cwd: Path, timeout: float = 20) -> object:
    """Run Python code that may import from `cwd`; its last line of output is JSON, taken as plain values."""
    code = f"import sys; sys.path.insert(0, '.')\n{code}"
    result = run([sys.executable, "-I", "-B", "-c", code], cwd, timeout)
    require(result.code == 0, f"exit {result.code}: {result.err.strip()[-300:]}")
    return json.loads(result.out.strip().rpartition("\n")[2])


def descendants() -> set[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        parents[int(stat.parent.name)] = int(text.rpartition(")")[2].split()[1])
    found, grown = {os.getpid()}, True
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in found} - found
        found |= grown
    return found - {os.getpid()}


def read_nonce() -> str:
    """The first line of standard input, and nobody else's from here on; empty where nothing is sent."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if sys.stdin is None or sys.stdin.isatty() or not select.select([0], [], [], 2)[0]:
        return ""
    return os.read(0, 200).decode("ascii", "replace").strip()


def end_descendants() -> None:
    """Nothing that the agent's code started may live on and rewrite the verdict."""
    for _ in range(100):
        left = descendants()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)
    sys.exit("processes started by the deliverables cannot be ended")


def judge(checks: dict[str, Callable[[], None]]) -> None:
    """Run every check and write the verdict: reward 1 if all passed, else 0."""
    nonce = read_nonce()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    tests: list[dict[str, object]] = []
    for name, check in checks.items():
        began, message = time.monotonic(), ""
        try:
            check()
        except Exception as error:  # noqa: BLE001 - what hostile output provokes is a failed check, not a crash
            message = f"{type(error).__name__}: {error}"[:500]
        status = "failed" if message else "passed"
        spent = round((time.monotonic() - began) * 1000)
        tests.append({"name": name, "status": status, "duration": spent, "message": message})
    end_descendants()
    failed = sum(test["status"] == "failed" for test in tests)
    summary = {"tests": len(tests), "passed": len(tests) - failed, "failed": failed}
    summary |= {"pending": 0, "skipped": 0, "other": 0, "start": 0, "stop": 0}
    report = {"results": {"tool": {"name": "check.py"}, "summary": summary, "tests": tests}}
    LOGS.mkdir(parents=True, exist_ok=True)
    for name in ("reward.json", "reward.txt", "ctrf.json", "verdict.json"):
        planted = LOGS / name
        if planted.is_dir() and not planted.is_symlink():
            shutil.rmtree(planted)
        planted.unlink(missing_ok=True)
    (LOGS / "ctrf.json").write_text(json.dumps(report) + "\n")
    (LOGS / "reward.txt").write_text(f"{int(not failed)}\n")
    if nonce:
        passed = {test["name"]: test["status"] == "passed" for test in tests}
        word = {"nonce": nonce, "reward": int(not failed), "checks": passed}
        (LOGS / "verdict.json").write_text(json.dumps(word) + "\n")
