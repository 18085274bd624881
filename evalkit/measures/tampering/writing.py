"""What does a call write into which files, as far as its own words say?

Here-documents and echoes of a shell line, texts of Python, patches, and the arguments of tools that edit files.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalkit.measures.python_calls import LONGEST, PYTHON_TOOLS, PythonCall, python_calls
from evalkit.measures.shell_call import arguments_of
from evalkit.measures.shell_script import Ran
from evalkit.trajectory.step import Act

_PATHS = ("path", "file_path", "filepath", "filename", "file_name", "file")
_WHOLE = ("file_text", "content", "contents")
_PARTS = ("new_str", "new_string", "insert_text", "insert_code", "replacement_text", "text")
_PATCHES = ("patch", "diff", "input")
_REPLACES = re.compile(
    r"s(?P<by>[^\w\s\\])(?P<old>(?:\\.|(?!(?P=by)).)*)(?P=by)(?P<new>(?:\\.|(?!(?P=by)).)*)(?P=by)"
)
_TARGET = re.compile(r"^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add) File: )(\S+)", re.MULTILINE)
_LONGEST_PATH = 4_096
_WRITERS = frozenset(
    {"Path.write_text", "Path.write_bytes", ".write_text", ".write_bytes", "open", "Path.open"}
)
_READING = re.compile(r"[rbtU]*")


@dataclass(frozen=True, slots=True)
class Written:
    """A text that is put into a file."""

    path: str
    """Empty where it is not known."""
    text: str
    """What is new, as far as it is known."""
    whole: bool
    """Whether it is all of the file; else it is added, or takes the place of something."""
    gone: str = ""
    """What it takes the place of."""


def written(act: Act, commands: Sequence[Ran]) -> Iterator[Written]:
    """Every text that a call writes, in no order."""
    grouped = next((own.target for own in commands if own.target and own.words[:1] == ("}",)), None)
    for own in commands:
        yield from _by_command(own)
        if grouped and own.target is None and own.program in {"echo", "printf"}:
            yield Written(grouped, _said(own), whole=True)
        code = python_text(own)
        if code is not None:
            yield from _by_python(code)
    arguments = arguments_of(act)
    name = PYTHON_TOOLS.get(act.tool or "")
    code = arguments.get(name) if name else None
    if isinstance(code, str):
        yield from _by_python(code)
    path = _first(arguments, _PATHS)
    old = _first(arguments, ("old_str", "old_string"))
    for keys, whole in ((_WHOLE, True), (_PARTS, False)):
        for key in keys:
            if path and isinstance(text := arguments.get(key), str) and text:
                yield Written(path, text, whole, old)
    for key in _PATCHES:
        if isinstance(text := arguments.get(key), str):
            yield from _by_patch(text)


def _first(arguments: Mapping[str, object], keys: Sequence[str]) -> str:
    """The first of these arguments that is a text; empty where none is."""
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), "")


def python_text(own: Ran) -> str | None:
    """The Python text that a command runs; None where it runs none."""
    if not own.program.startswith("python"):
        return None
    if (text := own.value("-c")) is not None:
        return text
    return own.stdin if own.operands[:1] in {(), ("-",)} else None


def _by_command(own: Ran) -> Iterator[Written]:
    target = None if own.target is None else own.path(own.target) or own.target
    if own.program in {"cat", "echo", "printf", ""} and target:
        text = own.stdin if own.program == "cat" else _said(own)
        yield Written(target, text or "", whole=own.program != "cat" or not own.operands)
    elif own.program == "tee":
        for word in own.operands:
            yield Written(own.path(word) or word, own.stdin or "", whole=not own.has("-a", "--append"))
    elif own.program in {"patch", "git"} and own.stdin:
        yield from _by_patch(own.stdin)
    elif own.program in {"sed", "perl"} and any(re.match(r"-\w*i|--in-place", word) for word in own.options):
        yield from _by_stream_editor(own)
    elif own.program in {"cp", "mv", "ln", "install"} and len(own.operands) > 1:
        place = own.path(own.operands[-1]) or own.operands[-1]
        yield Written(place, "", whole=True)
    elif own.program == "touch":
        for word in own.operands:
            yield Written(own.path(word) or word, "", whole=False)


def _said(own: Ran) -> str:
    return " ".join(own.operands).replace("\\n", "\n")


def _by_stream_editor(own: Ran) -> Iterator[Written]:
    scripts = [text for option in ("-e", "--expression") if (text := own.value(option)) is not None]
    operands = own.operands if scripts else own.operands[1:]
    script = "\n".join(scripts or own.operands[:1])
    found = list(_REPLACES.finditer(script))
    new = "\n".join(one["new"] for one in found) if found else re.sub(r"^[\d,$/\w]*[aic]\\?", "", script)
    for word in operands:
        yield Written(own.path(word) or word, new, whole=False, gone="\n".join(one["old"] for one in found))


def _by_patch(text: str) -> Iterator[Written]:
    marks = list(_TARGET.finditer(text))
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        lines = text[mark.end() : end].split("\n")
        added = "\n".join(line[1:] for line in lines if line.startswith("+") and not line.startswith("+++"))
        gone = "\n".join(line[1:] for line in lines if line.startswith("-") and not line.startswith("---"))
        yield Written(mark[1], added, whole=False, gone=gone)


def _by_python(code: str) -> Iterator[Written]:
    paths = [
        call.first or ""
        for call in python_calls(code)
        if call.name in _WRITERS | {".write_text", ".write_bytes", ".write"} and _may_write(call)
    ]
    named = list(dict.fromkeys(path for path in paths if _is_path(path)))
    if not paths:
        return
    new, old = _texts(code)
    for path in named or [""]:
        yield Written(path, new, whole=not old, gone=old)


def _is_path(text: str) -> bool:
    return bool(text) and "\n" not in text and len(text) < _LONGEST_PATH


def _may_write(call: PythonCall) -> bool:
    """Whether it is no opening of a file to be read."""
    if not call.name.endswith("open"):
        return True
    mode = call.args[1] if len(call.args) > 1 else call.keywords.get("mode")
    return not isinstance(mode, str | None) or bool(mode and not _READING.fullmatch(mode))


def _texts(code: str) -> tuple[str, str]:
    """The longer texts of a program: those that may be written, and those that are looked for to be replaced."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code[:LONGEST])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code[:LONGEST], ""
    old: list[str] = []
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            if node.func.attr in {"replace", "sub"} and isinstance(first, ast.Constant):
                skipped.add(id(first))
                old += [first.value] if isinstance(first.value, str) else []
    new = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped
    ]
    return "\n".join(new), "\n".join(old)
