"""Which thoughts and tool calls does a task's own solution consist of?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import ConfigError, TaskError
from evalkit.tasks.stage import Stage
from evalkit.textfile import read_text

_STEP = re.compile(r"[ \t]*#[ \t]*step:[ \t]*(.*)")
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^']+)'|\"([^\"]+)\"|\\?([A-Za-z_][A-Za-z0-9_.-]*))")
_ONLY_THOUGHT = "I run the whole solution at once."
_UNNAMED_THOUGHT = "I go on."


@dataclass(frozen=True, slots=True)
class Piece:
    """One thought of the oracle and the shell text that follows from it."""

    thought: str
    command: str


def cut(script: str) -> tuple[Piece, ...]:
    """A solve.sh, cut at its lines `# step: <thought>`.

    Lines before the first step are the preamble (`set -e`, variables, functions): without shebang and
    comments they are put before every piece, so they should change nothing in the world. Each piece runs as
    its own shell call: the working directory and variables of one are not there in the next, only files are.
    Such lines inside here-documents and quotes do not cut. Steps without a command are left out. Without any
    step line the whole script is one piece; a script without commands has none.
    """
    preamble, sections = _sections(script.replace("\r\n", "\n"))
    if not sections:
        command = _without_comments(preamble)
        return (Piece(_ONLY_THOUGHT, command),) if command else ()
    shared = _without_comments(preamble)
    pieces: list[Piece] = []
    for thought, lines in sections:
        command = "\n".join(lines).strip("\n")
        if _without_comments(lines):
            pieces.append(Piece(thought or _UNNAMED_THOUGHT, f"{shared}\n{command}" if shared else command))
    return tuple(pieces)


def load_solution(stage: Stage, names: Sequence[str] = ("solve.sh",)) -> tuple[Piece, ...]:
    """The pieces of the first of these files that is in a stage's solution/; of the last one where none is.

    Raises TaskError where that script is missing, unreadable or without commands.
    """
    paths = [stage.solution_dir / name for name in names]
    return _load(next((path for path in paths if path.exists()), paths[-1]))


def load_beside(stage: Stage, name: str) -> tuple[Piece, ...]:
    """The pieces of a further script in a stage's solution/; none where it is not there.

    Raises TaskError where it is unreadable or without commands.
    """
    path = stage.solution_dir / name
    return _load(path) if path.exists() else ()


def _load(path: Path) -> tuple[Piece, ...]:
    hint = "Write a solution that passes the tests, with a line `# step: <thought>` before each tool call."
    try:
        pieces = cut(read_text(path, hint=hint))
    except ConfigError as error:
        raise TaskError(error.message, where=error.where, hint=error.hint) from None
    if not pieces:
        raise TaskError("the solution holds no commands", where=str(path), hint=hint)
    return pieces


def _sections(script: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    preamble: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for line, can_cut in _lines(script.split("\n")):
        match = _STEP.fullmatch(line) if can_cut else None
        if match:
            sections.append((match[1].strip(), []))
        else:
            (sections[-1][1] if sections else preamble).append(line)
    return preamble, sections


def _lines(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it begins outside here-documents, quotes and continued lines."""
    quote, continued, at = "", False, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        yield line, not quote and not continued
        bare, quote = _unquoted(line, quote)
        continued = bool(not quote and re.search(r"(?<!\\)(?:\\\\)*\\$", line) and not bare.endswith("#"))
        for match in _HEREDOC.finditer(line) if "<<" in bare else ():
            for inner in range(at, _heredoc_end(lines, at, match)):
                yield lines[inner], False
            at = _heredoc_end(lines, at, match)


def _heredoc_end(lines: list[str], at: int, match: re.Match[str]) -> int:
    """The line after a here-document that begins at `at`; `at` itself where it never ends, and so is none."""
    word = match[2] or match[3] or match[4]
    for number in range(at, len(lines)):
        line = lines[number].lstrip("\t") if match[1] else lines[number]
        if line == word:
            return number + 1
    return at


def _unquoted(line: str, quote: str) -> tuple[str, str]:
    """The characters of a line outside quotes and comments, and the quote that is open at its end."""
    bare: list[str] = []
    at = 0
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1] in " \t;&|("):
            bare.append("#")
            break
        else:
            bare.append(char)
        at += 1
    return "".join(bare), quote


def _without_comments(lines: list[str]) -> str:
    """The lines that do something; leading and trailing blank ones, comments and the shebang are dropped."""
    kept = [line for line, outside in _lines(lines) if not (outside and line.lstrip().startswith("#"))]
    return "\n".join(kept).strip("\n") if any(line.strip() for line in kept) else ""
