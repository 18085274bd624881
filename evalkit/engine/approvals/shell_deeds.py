"""What does a shell line do, command by command?

Also what is behind `sh -c`, `eval`, `$(...)`, `find -exec` and documents that a shell or an interpreter reads. This is
for honest agents: a line can be written so that no reading finds what it does.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evalkit.engine.approvals.deed import Deed
from evalkit.engine.approvals.folders import Folders
from evalkit.engine.approvals.inner_commands import (
    INTERPRETERS,
    SHELLS,
    inner_code,
    inner_lines,
    lines_of_code,
    passed_on,
)
from evalkit.engine.approvals.network import text_uses_network, uses_network
from evalkit.engine.approvals.path_glob import resolved
from evalkit.engine.approvals.spellings import Values, assigned, in_url, spellings, value_in_option, with_pwd
from evalkit.measures.python_calls import python_calls
from evalkit.measures.shell_programs import PASSED_OVER
from evalkit.measures.shell_words import LONGEST, Command, simple_commands


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_CHARACTERS = 100_000
"""Of a line or a program that are looked at, without documents that nothing executes."""
DEEPEST = 6
"""Lines within lines that are looked into."""
_SHELL_WORDS = PASSED_OVER | _names(
    "done fi esac } case in select function break continue exit return shift read local readonly declare wait umask"
    " false echo printf test [ [["
)
_SAY = frozenset(("echo", "printf"))
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin"))
_SWEEP = frozenset(("rm", "rmdir", "mv", "shred", "srm"))
_SWEEPING_CODE = re.compile(
    r"rmtree|rm_r|rmSync|remove_tree|removedirs|rmdir|copytree|\bmove\b|rename|os\.replace|cpSync|cp_r"
)
_MOST_VARIABLES = 100
_READ_ONLY = _names("ls grep egrep rg cat du diff tree sort read")
_CHOICES = _names("-name -iname -path -ipath -wholename -regex -iregex -newer -empty")
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR]|--recursive$|-delete$")
_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1")
_LITERAL = re.compile(r"['\"]([^'\"\n]{1,4096})['\"]")
_FILE_NAME = re.compile(r"[\w.~-]+\.\w{1,8}")
_GIT_VALUES = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))


@dataclass(frozen=True, slots=True)
class Document:
    """A here-document and the program that reads it."""

    reader: str
    text: str
    is_quoted: bool
    """Whether the shell leaves `$(...)` in it alone."""

    @property
    def is_executed(self) -> bool:
        """Whether its reader does what it says."""
        return self.reader in SHELLS or INTERPRETERS.fullmatch(self.reader) is not None


def shell_deeds(line: str, base: str, depth: int = 0, values: Values | None = None) -> Iterator[Deed]:
    """Everything that a line does; relative paths start at `base`, and at the folder that `cd` named.

    `values` are what variables hold that were set around the line.
    """
    line, documents = parted(line)
    folders, held, piped = Folders(base), dict(values or {}), None
    for command in _commands(with_pwd(line)[:MAX_CHARACTERS]):
        bases = folders.of(command)
        known = {**held, "PWD": bases}
        read = piped if command.after in {"|", "|&"} else None
        yield _deed(command, bases, known)
        held.update(islice(assigned(command.written), _MOST_VARIABLES))
        folders.leave(command, known)
        if depth < DEEPEST:
            for inner in (*inner_lines(command, read), *_substitutions(command)):
                yield from shell_deeds(inner, bases[-1], depth + 1, held)
            for code in inner_code(command, read):
                yield from code_deeds(code, bases[-1], depth + 1)
        piped = passed_on(command, read)
    for document in documents:
        yield from _of_document(document, folders.now[-1], depth, held)


def _of_document(document: Document, base: str, depth: int, values: Values) -> Iterator[Deed]:
    if document.reader in SHELLS and depth < DEEPEST:
        yield from shell_deeds(document.text, base, depth + 1, values)
    elif document.is_executed:
        yield from code_deeds(document.text, base, depth + 1)
    if not document.is_quoted and depth < DEEPEST:
        for inner in map(_substituted, document.text.split("\n")):
            yield from shell_deeds(inner, base, depth + 1, values)


def code_deeds(code: str, base: str, depth: int = 0) -> Iterator[Deed]:
    """A program given as text, and what it has shells and other programs do."""
    yield _code_deed(code, base)
    if depth < DEEPEST:
        for line in lines_of_code(code):
            yield from shell_deeds(line, base, depth + 1)


def _code_deed(code: str, base: str) -> Deed:
    """What it names in quotes may be a path."""
    named = [found[1] for found in _LITERAL.finditer(code)]
    named += [arg for call in python_calls(code) for arg in call.args if isinstance(arg, str)]
    paths = _absolute([name for name in named if _may_be_path(name)], (base,))
    swept = paths if _SWEEPING_CODE.search(code) else ()
    return Deed((code,), paths, swept, network=text_uses_network(code))


def parted(line: str) -> tuple[str, tuple[Document, ...]]:
    """The line without its here-documents, and these. One without an end is none."""
    if "<<" not in line:
        return line, ()
    lines = line.split("\n")
    ends: dict[str, list[int]] = {}
    for number, one in enumerate(lines):
        ends.setdefault(one.strip(" \t"), []).append(number)
    kept: list[str] = []
    documents: list[Document] = []
    at = 0
    while at < len(lines):
        shown = lines[at]
        kept.append(shown)
        for head in _DOCUMENT.finditer(shown):
            places = ends.get(head[2], [])
            after = bisect.bisect_right(places, at)
            if after < len(places):
                text = "\n".join(lines[at + 1 : places[after]])
                reader = _reader(shown[: head.start()], shown[head.end() :])
                documents.append(Document(reader, text, is_quoted=head[1] != ""))
                at = places[after]
        at += 1
    return "\n".join(kept), tuple(documents)


def _reader(before: str, after: str) -> str:
    """The program that reads a document: the one before it, or the one that it is piped into."""
    if after.lstrip().startswith("|"):
        before = after
    programs = [command.program for command in simple_commands(before)]
    return (programs[0] if before is after else programs[-1]) if programs else ""


def _commands(line: str) -> Iterator[Command]:
    """Of a line of any length; a part ends where a line of the script does."""
    while line:
        cut = len(line) if len(line) <= LONGEST else line.rfind("\n", 0, LONGEST) + 1 or LONGEST
        yield from simple_commands(line[:cut])
        line = line[cut:]


def _deed(command: Command, bases: Sequence[str], values: Values) -> Deed:
    words, program = command.words, command.program
    named = [word for word in command.written if _names_file(word, command)]
    told = [word.partition("=")[2] for word in command.written if "=" in word]
    if program in _SAY:
        named, told = [], []
    attached = [value for word in words[1:] if (value := value_in_option(word)) and program not in _SAY]
    told += [value for value in attached if "/" in value]
    literals = [found[1] for word in words[1:] if " " in word for found in _LITERAL.finditer(word)]
    files = [name for name in command.files if name not in _NOWHERE and not name.startswith("-")]
    named = _spelled(named, values)
    others = _spelled((*told, *filter(_may_be_path, literals), *files), values)
    return Deed(
        tuple(dict.fromkeys(_texts(command))),
        _absolute((*named, *others), bases),
        swept=_absolute(named, bases) if _sweeps(program, words[1:]) else (),
        perhaps=_absolute([value for value in attached if "/" not in value], bases),
        network=uses_network(program, (*words, *files)),
        is_preparation=not files and (program in _SHELL_WORDS or not words),
    )


def _spelled(words: Sequence[str], values: Values) -> list[str]:
    return [in_url(one) or one for word in words for one in spellings(word, values)]


def _substitutions(command: Command) -> Iterator[str]:
    for word in command.written:
        yield _substituted(word)
    yield from " ".join(command.written).split("`")[1::2]


def _sweeps(program: str, arguments: Sequence[str]) -> bool:
    """Whether it takes folders with all that is in them; not so what only reads, and a `find` that chooses."""
    if program in _READ_ONLY or (program == "find" and not _CHOICES.isdisjoint(arguments)):
        return False
    return program in _SWEEP or any(_RECURSIVE.match(word) for word in arguments)


def _names_file(word: str, command: Command) -> bool:
    if not word or word.startswith("-"):
        return False
    is_program = bool(command.words) and word == command.words[0]
    return "/" in word if is_program else True


def _may_be_path(text: str) -> bool:
    return ("/" in text and not any(map(str.isspace, text))) or _FILE_NAME.fullmatch(text) is not None


def _absolute(paths: Sequence[str], bases: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(resolved(path, base) for path in paths if path for base in bases))


def _texts(command: Command) -> Iterator[str]:
    """As it is written, without what stands around it, without the program's folder, without git's own options."""
    if command.written:
        yield " ".join(command.written)
    if command.words:
        yield " ".join(command.words)
        rest = [command.program, *command.words[1:]]
        yield " ".join(rest)
        if command.program == "git":
            yield " ".join(("git", *_after_git_options(rest[1:])))


def _after_git_options(words: Sequence[str]) -> Sequence[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _GIT_VALUES else words[1:]
    return words


def _substituted(text: str) -> str:
    """What stands in `$(...)`, or nothing; two of them come as one line, which reads the same."""
    begin, end = text.find("$("), text.rfind(")")
    return text[begin + 2 : end] if 0 <= begin < end else ""
