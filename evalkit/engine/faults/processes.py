"""Which processes run in a sandbox, and which of them go by a name?

The listing comes from inside and is not trusted: it decides what a fault strikes, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

COMM_BYTES = 15
"""All that the kernel keeps of a program's own name."""
ARGUMENT_BYTES = 1500
"""Read of each command line."""
SHOWN = 40
"""Characters of a process's title."""

# Left out are the harness's own: process 1, whatever has its parent outside, and those above the command that looks.
_LIST = r"""
own=' '
facts() {
  name= state= parent=
  { while read -r key value rest; do
    case $key in
      Name:) name=$value${rest:+ $rest};;
      State:) state=$value;;
      PPid:) parent=$value; break;;
    esac
  done <"/proc/$1/status"; } 2>/dev/null
  [ -n "$parent" ]
}
process=$$
while [ "$process" -gt 0 ]; do own="$own$process "; facts "$process" || break; process=$parent; done
for folder in /proc/[0-9]*; do
  process=${folder#/proc/}
  [ "$process" -gt 1 ] || continue
  case $own in *" $process "*) continue;; esac
  facts "$process" || continue
  [ "$parent" -gt 0 ] || continue
  case $state in Z|X) continue;; esac
  printf '%s%s\0%s\0' TOKEN "$process" "$name"
  head -c BYTES "$folder/cmdline" 2>/dev/null
done
exit 0
"""
# Of each interpreter: options whose value is the next argument; those whose value is code; those that name what runs.
_INTERPRETERS: tuple[tuple[str, str, str, str], ...] = (
    (r"(?:.*[a-z])?sh", r"[-+][a-z]*[oO]|--rcfile|--init-file", r"-[a-z]*c[a-z]*", r"(?!)"),
    (r"(?:python|pypy)[\d.]*", r"-[WX]|--check-hash-based-pycs", r"-[^WX-]*c", r"-[^WX-]*m"),
    (r"perl[\d.]*", r"-I", r"-[a-z]*[eE]", r"(?!)"),
    (r"ruby[\d.]*", r"-[IrCE]", r"-[a-z]*e", r"(?!)"),
    (r"node|nodejs", r"-[rC]|--(?:require|import|loader|conditions)", r"-e|-p|-pe|--eval|--print", r"(?!)"),
    (r"php[\d.]*", r"-[dcz]", r"-r", r"-f|--file"),
    (r"java", r"-cp|-classpath|--class-path|-p|--module-path|--add-modules", r"(?!)", r"-jar|-m|--module"),
)


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a sandbox."""

    pid: int
    comm: str
    """Its program's own name, at most 15 bytes of it."""
    argv: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """How a reader would know it."""
        script = script_of(self.argv)
        program = _base(self.argv[0]) if self.argv else self.comm
        said = program if script is None else f"{program} {_base(script)}"
        return "".join(char if char.isprintable() else "?" for char in said[:SHOWN])

    def is_called(self, name: str) -> bool:
        """Whether it goes by a name: its program's, that of the script that an interpreter runs, or words in a row of
        its command line.
        """
        comm = name.encode()[:COMM_BYTES].decode("utf-8", "ignore")
        if self.comm == comm and (comm == name or not self.argv):
            return True
        script = script_of(self.argv)
        if any(_goes_by(one, name) for one in (*self.argv[:1], *([] if script is None else [script]))):
            return True
        words = name.split()
        return len(words) > 1 and (_in_a_row(words, self.argv) or _in_a_row(words, self.comm_line))

    @property
    def comm_line(self) -> tuple[str, ...]:
        """The words of a process that has given itself a title."""
        return tuple(self.argv[0].split()) if self.argv else ()


def listing_line(token: str) -> str:
    """A shell line that lists processes; `token` parts them, and nobody inside can guess it."""
    return _LIST.replace("TOKEN", token).replace("BYTES", str(ARGUMENT_BYTES))


def read_listing(listing: bytes, token: str) -> tuple[Process, ...]:
    """What such a line has printed."""
    found: list[Process] = []
    for one in listing.split(token.encode())[1:]:
        pid, comm, *argv = (part.decode("utf-8", "replace") for part in one.split(b"\0"))
        if not pid.isdecimal():
            continue
        while argv and not argv[-1]:
            argv.pop()
        found.append(Process(int(pid), comm, tuple(argv)))
    return tuple(sorted(found, key=lambda process: process.pid))


def script_of(argv: Sequence[str]) -> str | None:
    """What an interpreter runs; None where it is none, or runs code of its command line or its input."""
    if not argv:
        return None
    program = _base(argv[0]).lstrip("-")
    known = next((one for one in _INTERPRETERS if re.fullmatch(one[0], program)), None)
    if known is None:
        return None
    _, takes_value, takes_code, takes_script = known
    rest = iter(argv[1:])
    for argument in rest:
        if re.fullmatch(takes_script, argument) or argument == "--":
            return next(rest, None)
        if re.fullmatch(takes_code, argument) or argument == "-":
            return None
        if re.fullmatch(takes_value, argument):
            next(rest, None)
        elif not argument.startswith(("-", "+")):
            return argument
    return None


def _in_a_row(words: Sequence[str], among: Sequence[str]) -> bool:
    return any(
        _goes_by(among[start], words[0]) and tuple(among[start + 1 : start + len(words)]) == tuple(words[1:])
        for start in range(len(among) - len(words) + 1)
    )


def _goes_by(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]
