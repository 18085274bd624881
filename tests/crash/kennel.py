"""How do many runs of the command line start at once, without importing everything again each time?

A process that has imported what a run imports, and forks one child for each command: a process of a session of its
own that then is `evalkit ARGS`, to its own exit. Orders and answers are one JSON object a line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from evalkit.cli.app import command_line, main
from evalkit.cli.interrupt import Interrupts

FRESH = frozenset(sys.modules)


def begin(order: dict[str, Any]) -> int:
    """Fork. In the child, which gets 0, everything is as the order says."""
    for name in ("out", "err"):
        Path(order[name]).touch()
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    os.chdir(order["cwd"])
    os.environ.update(order["env"])
    for number, name in enumerate((os.devnull, order["out"], order["err"])):
        handle = os.open(name, os.O_RDWR | (number and os.O_CREAT | os.O_TRUNC), 0o644)
        os.dup2(handle, number)
        os.close(handle)
    sys.argv = ["evalkit", *order["args"]]
    return 0


def status_of(pid: int, seconds: float) -> int | None:
    """The exit status of a child, negative for a signal; None where it does not end in time."""
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)


def end(pid: int) -> int | None:
    """Kill a child that is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
        return status_of(pid, 10)
    except (ProcessLookupError, ChildProcessError):  # its exit code has been asked for
        return None


def learn(order: dict[str, Any]) -> int:
    """Let a child do the command, and import what it imported."""
    pid = begin(order)
    if not pid:
        command_line(Interrupts())
        Path(order["modules"]).write_text("\n".join(name for name in sys.modules if name not in FRESH))
        os._exit(0)
    status = status_of(pid, 120)
    for name in Path(order["modules"]).read_text().split():
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module(name)
    return -1 if status is None else status


while line := sys.stdin.buffer.raw.readline():
    asked: dict[str, Any] = json.loads(line)
    if "wait" in asked:
        answer = status_of(asked["wait"], asked["seconds"])
    elif "end" in asked:
        answer = end(asked["end"])
    elif "modules" in asked:
        answer = learn(asked)
    else:
        answer = begin(asked)
        if answer == 0:
            main()
            break
    print(json.dumps(answer), flush=True)
