"""Which functions does a Python text call, as far as its own words say with what?"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

LONGEST = 20_000
"""Characters of a text that are looked at."""
PYTHON_TOOLS: Mapping[str, str] = {"python": "code", "execute_python": "code", "ipython": "code"}
"""Tools that run a Python text, and which of their arguments it is."""
Value = str | int | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PythonCall:
    """One call of a function."""

    name: str
    """With its module where the text imports it (`os.remove`); of a method of something unknown `.name`."""
    args: tuple[Value, ...] = ()
    """Texts, numbers and lists of texts; None for anything else."""
    keywords: Mapping[str, Value] = field(default_factory=dict[str, Value])

    @property
    def first(self) -> str | None:
        """The first argument where it is a text."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else None


def python_calls(code: str) -> tuple[PythonCall, ...]:
    """In the order in which they are written; none where the text is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an unknown escape, in the agent's code
            tree = ast.parse(code[:LONGEST])
        reader = _Reader()
        reader.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(reader.calls)


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.calls: list[PythonCall] = []
        self.modules: dict[str, str] = {}
        self.known: dict[str, Value] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self.modules[name.asname or name.name.partition(".")[0]] = (
                name.name if name.asname else name.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            self.modules[name.asname or name.name] = f"{node.module or ''}.{name.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.known[target.id] = self._value(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        args = [self._value(arg) for arg in node.args]
        name = self._name(node.func)
        if isinstance(node.func, ast.Attribute) and (path := self._value(node.func.value)) is not None:
            name, args = f"Path.{node.func.attr}", [path, *args]
        keywords = {word.arg: self._value(word.value) for word in node.keywords if word.arg}
        self.calls.append(PythonCall(name, tuple(args), keywords))

    def _name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            before = self._name(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ""
            known = before.partition(".")[0] in {value.partition(".")[0] for value in self.modules.values()}
            return f"{before}.{node.attr}" if known else f".{node.attr}"
        return ""

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str | int) else None
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.List | ast.Tuple):
            parts = [self._value(part) for part in node.elts]
            texts = tuple(part for part in parts if isinstance(part, str))
            return texts if len(texts) == len(parts) else None
        if isinstance(node, ast.Call) and self._name(node.func) in {"pathlib.Path", "Path"} and node.args:
            return self._value(node.args[0])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = self._value(node.left), self._value(node.right)
            return f"{left}/{right}" if isinstance(left, str) and isinstance(right, str) else None
        return None
