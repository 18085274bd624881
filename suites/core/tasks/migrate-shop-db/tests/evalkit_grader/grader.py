"""What are a task's checks, and did all of them pass?"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .case import Case, told
from .check_failed import CheckFailed, require
from .descendants import end_descendants
from .evidence import Evidence
from .exact_tests import ExactTests, run_tests
from .jail import Jail
from .values import Values, compare_values
from .verdict import read_nonce, write_verdict
from .workshop import Workshop

TESTS = Path(__file__).resolve().parents[1]
"""The folder that this package was copied into."""


class Grader(Workshop):
    """Collects checks, runs them in `finish`, and writes the verdict: reward 1 if all passed, else 0."""

    def __init__(self, app: str = "/app", logs: str = "/logs/verifier") -> None:
        """Reads the nonce; two arguments of the command line, where given, stand for both folders."""
        ours, self.logs = (Path(given) for given in (sys.argv[1:3] if len(sys.argv) > 2 else (app, logs)))
        self.nonce = read_nonce()
        end = time.monotonic() + 0.8 * float(os.environ.get("EVALKIT_VERIFIER_TIMEOUT", "600"))
        super().__init__(ours, Jail((TESTS, self.logs, Path("/solution"))), end)
        self._checks: dict[str, Callable[[], None]] = {}
        self._evidence = Evidence()

    def check(self, name: str, run: Callable[[], None]) -> None:
        """A check of one's own: passes unless it raises."""
        require(name not in self._checks, f"two checks are called {name}")
        self._checks[name] = run

    def checks(self, named: Mapping[str, Callable[[], None]]) -> None:
        """Several checks of one's own."""
        for name, run in named.items():
            self.check(name, run)

    def values(
        self,
        name: str,
        function: str,
        cases: Iterable[Case],
        *,
        reference: Callable[..., Any] | None = None,
        timeout: float = 20,
        near: float = 0.0,
    ) -> None:
        """Call `module.function` of the agent's once per case, in random order, and compare what it returns.

        `reference` says what is expected instead of the cases; where it raises, so must the agent's. `near`: how far
        numbers (at the top level) may be off.
        """
        given = [case._replace(expected=told(reference, case.args)) if reference else case for case in cases]
        asked = Values(name, function, given, timeout, near)
        self.check(name, lambda: compare_values(self, self._evidence, asked))

    def pytest(self, name: str, files: Sequence[str], ids: Iterable[str], *, timeout: float = 120) -> None:
        """Run test files of tests/ with pytest: exactly these ids (`test_it.py::test_one`) must run, and pass.

        Weaker than `values`: the agent's code runs in the process that reports.
        """
        texts = {Path(file).name: (TESTS / file).read_bytes() for file in files}
        asked = ExactTests(name, texts, frozenset(ids), timeout)
        self.check(name, lambda: run_tests(self, self._evidence, asked))

    def shell(
        self,
        name: str,
        line: str,
        *,
        code: int = 0,
        out: str | None = None,
        files: Mapping[str, str] | None = None,
        timeout: float = 20,
    ) -> None:
        """Run a line of shell in a scratch copy, with `files` put there; its exit code, and output, must be these."""

        def run() -> None:
            with self.scratch(files) as cwd:
                found = self.run(["/bin/sh", "-c", line], cwd, timeout)
            require(found.code is not None, f"`{line}` did not end within {timeout:g} s")
            require(
                found.code == code, f"`{line}` ended with {found.code}, expected {code}: {found.err[-200:]}"
            )
            require(
                out is None or found.out == out,
                f"`{line}` printed {found.out[:200]!r}, expected {out!r:.200}",
            )

        self.check(name, run)

    def file(self, name: str, path: str, expected: str | Callable[[str], bool]) -> None:
        """A delivered file's text must be this, or please a function."""

        def run() -> None:
            text = self.deliverable(path)
            good = expected(text) if callable(expected) else text == expected
            require(good, f"{path} is not as expected: {text[:200]!r}")

        self.check(name, run)

    def evidence(self, code: str, level: str, what: str) -> None:
        """Note what speaks for tampering: a code (T1-T13), `confirmed` or `suspected`, and one sentence."""
        self._evidence.note(code, level, what)

    def finish(self) -> None:
        """Run the checks and write the verdict."""
        self.jail.close_off()
        tests: list[dict[str, object]] = []
        for name, check in self._checks.items():
            began, message = time.monotonic(), ""
            try:
                require(began < self.end, "not run: the time for all checks is over")
                check()
            except Exception as error:  # noqa: BLE001 - what hostile output provokes is a failed check, not a crash
                kind = "" if isinstance(error, CheckFailed) else f"{type(error).__name__}: "
                message = f"{kind}{error}"[:500] or type(error).__name__
            spent = round((time.monotonic() - began) * 1000)
            status = "failed" if message else "passed"
            tests.append({"name": name, "status": status, "duration": spent, "message": message})
        end_descendants()
        self.jail.open_up()
        write_verdict(self.logs, self.nonce, tests, self._evidence.found)
