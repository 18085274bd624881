"""Code that is read on one screen: no function of more than 60 lines, no file of more than 400."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_A_FILE = 400
FILES = sorted(
    path
    for place in ("evalkit", "scorers", "reports", "cli.py")
    for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function of a file, by its name and line, with how many lines it has, from `def` to its end."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_there_are_files_to_measure():
    assert len(FILES) > 300
    assert {"evalkit", "scorers"} <= {path.relative_to(ROOT).parts[0] for path in FILES}


def test_no_function_is_longer_than_a_screen():
    lengths = {name: lines for path in FILES for name, lines in functions(path)}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_no_file_is_longer_than_is_read_at_once():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


@pytest.mark.parametrize("lines", [60, 61])
def test_a_function_is_measured_with_its_parameters(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    path = tmp_path / "long.py"
    path.write_text("@wrapped\ndef long(\n" + "    a,\n" * (lines - 3) + "):\n    return a\n", "utf-8")
    assert list(functions(path)) == [("long.py:2 long", lines)]
