"""Which lines and programs does a command run that stand in its own words, or that it reads from them?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from evalkit.measures.python_calls import python_calls
from evalkit.measures.shell_words import Command


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _names("sh bash dash zsh ksh ash busybox")
INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|php|lua)[\d.]*")
_RUNNERS: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(
        _names(
            "setsid busybox unbuffer chronic ltrace parallel fakeroot builtin coproc dbus-run-session catchsegv"
        ),
        ("", 0),
    ),
    "doas": ("uC", 0),
    "watch": ("n", 0),
    "strace": ("eopsuEaIOPSXb", 0),
    "ionice": ("cnpPu", 0),
    "chrt": ("pTPD", 1),
    "taskset": ("", 1),
    "unshare": ("GSRw", 0),
    "nsenter": ("tGS", 0),
    "chroot": ("", 1),
    "flock": ("wE", 1),
    "runuser": ("ugG", 0),
    "setpriv": ("", 0),
    "prlimit": ("", 0),
    "systemd-run": ("pMHuE", 0),
    "xvfb-run": ("efnspw", 0),
    "setarch": ("", 1),
    "numactl": ("", 0),
    "cgexec": ("g", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "tini": ("pe", 0),
    "entr": ("", 0),
    "rlwrap": ("", 0),
}
"""Programs that run the command behind them: options with a value of their own, and words before the command."""
_TAKE_LINES = _names("su runuser script flock sg")
"""Programs whose `-c` is a shell line."""
_LINE = re.compile(r"-[A-Za-z]*c[A-Za-z]*|--command")
_CODE = re.compile(r"-[A-Za-z]*[ceE]")
_READING = SHELLS | {".", "source"}
_CALLED = re.compile(
    r"\b(?:(?:system|exec)\s*\(?|(?:popen|execSync|shell_exec|passthru|spawn|run|call|check_call|check_output|Popen"
    r"|getoutput|getstatusoutput)\s*\()\s*[fr]?(?:\"((?:[^\"\\\n]|\\.){1,4096}+)\"|'((?:[^'\\\n]|\\.){1,4096}+)')"
)
_PROCESSES = re.compile(
    r"subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|os\.(?:system|popen)|pty\.spawn"
    r"|asyncio\.create_subprocess_(?:exec|shell)"
)


def inner_lines(command: Command, piped: str | None) -> Iterator[str]:
    """Shell lines; `piped` is what it reads from the command before it, where the line says so."""
    words, program = command.words, command.program
    if program in SHELLS:
        yield from _option_value(words, _LINE)
    if program in _READING:
        yield from command.strings
        yield from _read_by(words, piped)
    if program in _TAKE_LINES:
        yield from _option_value(words, _LINE)
    if program in {"eval", "trap"}:
        yield " ".join(words[1:]) if program == "eval" else "".join(words[1:2])
    if program in {"function", "coproc"} and "{" in words:
        yield shlex.join(words[words.index("{") + 1 :])
    elif program in _RUNNERS:
        yield shlex.join(_behind(words, *_RUNNERS[program]))
    if program == "alias":
        yield from (word.partition("=")[2] for word in words[1:])
    if program == "find":
        yield from _executed(words)
    if program in {"awk", "gawk", "mawk"}:
        yield from (line for word in words[1:] for line in _called(word))
    if "xargs" in command.written and piped is not None:
        yield f"{shlex.join(words)} {' '.join(piped.split())}"
    if "env" in command.written:
        yield from _option_value(command.written, re.compile(r"-[A-Za-z]*S|--split-string"))


def inner_code(command: Command, piped: str | None) -> Iterator[str]:
    """Programs for an interpreter."""
    if INTERPRETERS.fullmatch(command.program):
        yield from _option_value(command.words, _CODE)
        yield from command.strings
        yield from _read_by(command.words, piped)


def lines_of_code(code: str) -> Iterator[str]:
    """Shell lines that a program hands to a shell, or runs as one command."""
    yield from dict.fromkeys(_called(code))
    for call in python_calls(code):
        if _PROCESSES.fullmatch(call.name) and call.args:
            given = call.args[0]
            texts = [arg for arg in call.args if isinstance(arg, str)]
            yield (
                shlex.join(given)
                if isinstance(given, tuple)
                else shlex.join(texts)
                if texts[1:]
                else call.first or ""
            )


def passed_on(command: Command, piped: str | None) -> str | None:
    """What it prints for the next command of a pipe, where the line says so."""
    if command.program in {"echo", "printf"}:
        return " ".join(word for word in command.words[1:] if word not in {"-e", "-n"}).replace("\\n", "\n")
    if command.program in {"cat", "tee"}:
        return "\n".join(command.strings) or piped
    return None


def _called(code: str) -> Iterator[str]:
    for found in _CALLED.finditer(code):
        yield found[1] if found[1] is not None else found[2]


def _read_by(words: Sequence[str], piped: str | None) -> Iterator[str]:
    """What comes through a pipe is a program only where no file is."""
    if piped is not None and all(word.startswith("-") or word == "/dev/stdin" for word in words[1:]):
        yield piped


def _behind(words: Sequence[str], with_value: str, operands: int) -> Sequence[str]:
    rest = _after_options(words[1:], with_value)
    return _after_options(rest[operands:], with_value) if operands else rest


def _after_options(words: Sequence[str], with_value: str) -> Sequence[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--":
            break
        if len(option) == 2 and option[1] in with_value and rest:
            rest.pop(0)
    return rest


def _option_value(words: Sequence[str], option: re.Pattern[str]) -> Iterator[str]:
    for number, word in enumerate(words[1:-1], start=1):
        if option.fullmatch(word):
            yield words[number + 1]
            return


def _executed(words: Sequence[str]) -> Iterator[str]:
    """What `find` runs."""
    for number, word in enumerate(words):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            rest = list(words[number + 1 :])
            end = next((at for at, one in enumerate(rest) if one in {";", "+"}), len(rest))
            yield shlex.join(rest[:end])
