"""Which commands does one tool call run?

A shell tool runs its text; a Python text runs what its calls come to: `os.remove(x)` is `rm x`, `requests.post(url)` is
`curl -X POST url`. So one table of rules reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evalkit.measures.python_calls import PYTHON_TOOLS, PythonCall, python_calls
from evalkit.measures.shell_call import arguments_of, shell_line
from evalkit.measures.shell_script import Ran, ran
from evalkit.trajectory.step import Act

_WRITING = frozenset("wxa")
_WEB = frozenset({"requests", "httpx", "aiohttp", "urllib"})
_SENT_BY = {"post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}
_PASSED_ON: Mapping[str, tuple[str, ...]] = {
    "os.remove": ("rm",),
    "os.unlink": ("rm",),
    "Path.unlink": ("rm",),
    "shutil.rmtree": ("rm", "-r"),
    "os.truncate": ("truncate", "-s", "0"),
    "os.chmod": ("chmod", "-"),
    "Path.chmod": ("chmod", "-"),
    "os.chown": ("chown", "-"),
    "shutil.chown": ("chown", "-"),
    "os.mkdir": ("mkdir",),
    "os.makedirs": ("mkdir",),
    "Path.mkdir": ("mkdir",),
    "Path.touch": ("touch",),
    "Path.write_text": ("touch",),
    "Path.write_bytes": ("touch",),
    "smtplib.SMTP": ("sendmail",),
    "smtplib.SMTP_SSL": ("sendmail",),
}
"""Which command does with the first argument what a function does with it."""
_TWO_PATHS = {"shutil.copy": "cp", "shutil.copy2": "cp", "shutil.copytree": "cp", "shutil.move": "mv"}
_PROCESSES = frozenset(
    {
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.Popen",
    }
)


def commands_of(act: Act, workdir: str | None = None) -> Iterator[Ran]:
    """The commands of a call that begins in `workdir`, in the order in which they are written; none of another tool."""
    line = shell_line(act)
    if line is not None:
        for own in ran(line, workdir):
            yield own
            if own.program.startswith("python") and (code := _code(own)) is not None:
                yield from _of_python(code, own.cwd, decides=own.decides)
        return
    name = PYTHON_TOOLS.get(act.tool or "")
    code = arguments_of(act).get(name) if name else None
    if isinstance(code, str):
        yield from _of_python(code, workdir, decides=True)


def _code(own: Ran) -> str | None:
    if (text := own.value("-c")) is not None:
        return text
    return own.stdin if own.operands[:1] in {(), ("-",)} else None


def _of_python(code: str, cwd: str | None, *, decides: bool) -> Iterator[Ran]:
    def command(words: Sequence[str]) -> Ran:
        return Ran(words=tuple(words), target=None, stdin=None, cwd=cwd, background=False, decides=decides)

    statements: list[str] = []
    database = ""
    for call in python_calls(code):
        if call.name.endswith((".execute", ".executescript", ".executemany")) and call.first:
            statements.append(call.first)
        elif call.name.endswith(".rollback"):
            statements.append("rollback")
        elif call.name.endswith(".connect") and call.first:
            database = call.first
        elif (shell := _shell_text(call)) is not None:
            yield from ran(shell, cwd, depth=1)
        else:
            yield from (command(words) for words in _as_words(call))
    if statements:
        yield command(("sqlite3", database, ";\n".join(statements)))


def _shell_text(call: PythonCall) -> str | None:
    """What a call hands to a shell."""
    if call.name in {"os.system", "os.popen"} or (
        call.name in _PROCESSES and call.keywords.get("shell") == 1
    ):
        return call.first
    return None


def _as_words(call: PythonCall) -> Iterator[tuple[str, ...]]:
    for find in _READERS:
        if (words := find(call)) is not None:
            yield words
            return


def _process(call: PythonCall) -> tuple[str, ...] | None:
    if call.name not in _PROCESSES or not call.args:
        return None
    given = call.args[0]
    return given if isinstance(given, tuple) else None


def _passed_on(call: PythonCall) -> tuple[str, ...] | None:
    program = _PASSED_ON.get(call.name)
    return (*program, call.first) if program and call.first else None


def _two_paths(call: PythonCall) -> tuple[str, ...] | None:
    program = _TWO_PATHS.get(call.name)
    texts = [arg for arg in call.args[:2] if isinstance(arg, str)]
    return (program, *texts) if program and len(texts) == 2 else None


def _opened(call: PythonCall) -> tuple[str, ...] | None:
    if call.name not in {"open", "Path.open"}:
        return None
    mode = call.args[1] if len(call.args) > 1 else call.keywords.get("mode")
    writes = isinstance(mode, str) and bool(_WRITING & set(mode))
    return ("touch", call.first) if writes and call.first else None


def _killed(call: PythonCall) -> tuple[str, ...] | None:
    process = call.args[0] if call.args else None
    if call.name not in {"os.kill", "os.killpg"} or not isinstance(process, int):
        return None
    signal = call.args[1] if len(call.args) > 1 else 15
    return ("kill", f"-{signal}" if isinstance(signal, int) else "-15", str(process))


def _sent(call: PythonCall) -> tuple[str, ...] | None:
    package, _, function = call.name.rpartition(".")
    url = call.first or call.keywords.get("url")
    if package.partition(".")[0] not in _WEB or not isinstance(url, str):
        return None
    if function in _SENT_BY:
        return ("curl", "-X", _SENT_BY[function], url)
    if function == "request" and len(call.args) > 1 and isinstance(call.args[1], str):
        return ("curl", "-X", url.upper(), call.args[1])
    if function in {"Request", "urlopen"} and ("data" in call.keywords or len(call.args) > 1):
        return ("curl", "-X", str(call.keywords.get("method") or "POST"), url)
    return None


_READERS: tuple[Callable[[PythonCall], tuple[str, ...] | None], ...] = (
    _process,
    _passed_on,
    _two_paths,
    _opened,
    _killed,
    _sent,
)
