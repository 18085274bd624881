"""Fixtures: the command line, called as a user calls it, in a temporary folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `evalkit ...` in this process, in the temporary folder, on a page of so many columns."""

    def run(*args: str, columns: int = 80) -> Said:
        from evalkit.cli.app import command_line
        from evalkit.cli.interrupt import Interrupts

        monkeypatch.setattr(sys, "argv", ["evalkit", *args])
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        code = command_line(Interrupts())
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run
