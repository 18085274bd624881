"""Where do delivered programs run?"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from .check_failed import require
from .descendants import end_descendants
from .jail import Jail

CAP = 5_000_000
"""Bytes read of one output, or of one file."""


class Child(NamedTuple):
    """A started child, which `ended` must be called with."""

    process: subprocess.Popen[bytes]
    streams: tuple[IO[bytes], IO[bytes]]


class Output(NamedTuple):
    """What a child said; the code is None where it ran out of time."""

    code: int | None
    out: str
    err: str


class Workshop:
    """Scratch copies of the working directory, and children in them, all within the time that there is."""

    def __init__(self, app: Path, jail: Jail, end: float) -> None:
        self.app, self.jail = app, jail
        self.end = end
        """When the clock says that all checks must be over."""
        self._open = 0

    def deliverable(self, name: str, folder: Path | None = None) -> str:
        """The text of a file that the agent was asked for; one reached through a link does not count."""
        folder = (folder or self.app).resolve()
        path = folder / name
        require(path.is_file() and path.resolve() == path, f"{name} is missing or not a regular file")
        require(path.stat().st_size <= CAP, f"{name} is too large")
        return path.read_text(encoding="utf-8")

    def workspace(self) -> Path:
        """A fresh copy of the working directory, without links and bytecode, that the children's user owns."""

        def unwanted(folder: str, names: list[str]) -> list[str]:
            paths = {name: Path(folder, name) for name in names}
            plain = {name for name, path in paths.items() if path.is_dir() or path.is_file()}
            return [
                name
                for name in names
                if name == "__pycache__" or name not in plain or paths[name].is_symlink()
            ]

        made = Path(tempfile.mkdtemp(prefix="grader-")).resolve()
        copy = Path(shutil.copytree(self.app, made / "app", ignore=unwanted))
        (made / "tmp").mkdir()
        return copy

    @contextlib.contextmanager
    def scratch(self, files: Mapping[str, str] | None = None) -> Generator[Path]:
        """A workspace with further files, for as long as it is needed."""
        cwd = self.workspace()
        try:
            for name, text in (files or {}).items():
                (cwd / name).parent.mkdir(parents=True, exist_ok=True)
                (cwd / name).write_text(text, encoding="utf-8")
            yield cwd
        finally:
            shutil.rmtree(cwd.parent, ignore_errors=True)

    def start(
        self, argv: Sequence[str], cwd: Path, seconds: float = 20, fds: Sequence[int] = (), **env: str
    ) -> Child:
        """Start untrusted code in the jail. Its output goes to files, as a pipe could be held open."""
        streams = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - `ended` closes them
        root = cwd.parent if cwd.name == "app" else cwd
        self.jail.hand_over(root)
        known = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"}
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**known, "TMPDIR": str(root / "tmp" if (root / "tmp").is_dir() else cwd), **env},
                stdin=subprocess.DEVNULL,
                stdout=streams[0],
                stderr=streams[1],
                pass_fds=tuple(fds),
                start_new_session=True,
                preexec_fn=lambda: self.jail.enter(root, seconds),  # noqa: PLW1509 - there are no threads here
            )
        except subprocess.SubprocessError:
            sys.exit("the jail for the agent's code cannot be made")
        self._open += 1
        return Child(process, streams)

    def ended(self, child: Child, timeout: float = 20) -> Output:
        """Wait for a child, kill what it left behind, and read what it printed."""
        try:
            code = child.process.wait(self.bounded(timeout))
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()
        self._open -= 1
        if not self._open:
            end_descendants()
        texts: list[str] = []
        for stream in child.streams:
            stream.seek(0)
            texts.append(stream.read(CAP).decode("utf-8", "replace"))
            stream.close()
        return Output(code, *texts)

    def run(self, argv: Sequence[str], cwd: Path, timeout: float = 20, **env: str) -> Output:
        """Start untrusted code, and wait for its end."""
        return self.ended(self.start(argv, cwd, timeout, (), **env), timeout)

    def call(self, code: str, cwd: Path, timeout: float = 20) -> Any:
        """Run Python code that may import from `cwd`; its last line of output is JSON, taken as plain values."""
        code = f"import sys; sys.path.insert(0, '.')\n{code}"
        result = self.run([sys.executable, "-I", "-B", "-c", code], cwd, timeout)
        require(result.code == 0, f"exit {result.code}: {result.err.strip()[-300:]}")
        return json.loads(result.out.strip().rpartition("\n")[2])

    def source(self, module: str) -> str:
        """The text of a delivered Python module."""
        found = [name for name in (f"{module}.py", f"{module}/__init__.py") if (self.app / name).is_file()]
        require(
            found and not (self.app / found[0]).is_symlink(), f"{module}.py is missing or not a regular file"
        )
        with (self.app / found[0]).open(encoding="utf-8", errors="replace") as file:
            return file.read(CAP)

    def bounded(self, timeout: float) -> float:
        """Seconds that a child may take: together they leave time to write the verdict."""
        return min(timeout, max(0.3, self.end - time.monotonic()))
