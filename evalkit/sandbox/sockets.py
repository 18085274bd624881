"""Which sockets wait for others, by what the kernel's own tables of a network say?"""

from __future__ import annotations

import contextlib
import re
import socket
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal

from evalkit.sandbox.protocol import Listening

TABLES = ("tcp", "tcp6", "udp", "udp6", "unix")
"""Files of /proc/PID/net."""
_LISTENS = "0A"
"""The state of a tcp socket that waits for connections."""
_CONNECTED = "01"
"""The state of a udp socket that speaks to one other alone: it waits for nobody."""
_ACCEPTS = 0x10000
"""The flag of a unix socket that waits for connections."""
_ROW = re.compile(
    r" *\d+: (?P<address>[0-9A-F]+):(?P<port>[0-9A-F]{4}) \S+ (?P<state>[0-9A-F]{2}) "
    r"\S+ \S+ \S+ +\d+ +\d+ (?P<inode>\d+)"
)
_UNIX_ROW = re.compile(
    r"[0-9a-f]+: \S+ \S+ (?P<flags>[0-9A-F]+) \S+ \S+ +(?P<inode>\d+)(?: (?P<path>.*))?",
    re.IGNORECASE | re.DOTALL,
)
_UNIX_BEGINS = re.compile(r"[0-9a-f]+: [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{8} ")


def tables(folder: Path) -> dict[str, str]:
    """The tables in a folder such as /proc/PID/net. Fewer without IPv6; raises OSError for none."""
    found: dict[str, str] = {}
    for name in TABLES:
        with contextlib.suppress(FileNotFoundError):
            found[name] = (folder / name).read_bytes().decode("utf-8", "surrogateescape")
    if not found:
        raise FileNotFoundError(folder)
    return found


def listening(
    said: Mapping[str, str],
    *,
    only: Collection[int] | None = None,
    inside: bool = False,
    byteorder: Literal["little", "big"] = sys.byteorder,
) -> tuple[Listening, ...]:
    """What waits according to these tables, sorted; `only` sockets with these inodes where it is given.

    Unix sockets that have no name cannot be reached, and are left out.
    """
    found: set[Listening] = set()
    for name, text in said.items():
        rows = _unix(text, inside=inside) if name == "unix" else _inet(name, text, byteorder, inside=inside)
        found.update(one for inode, one in rows if only is None or inode in only)
    return tuple(sorted(found, key=lambda one: (one.protocol, one.port or 0, one.address)))


def _inet(
    name: str, text: str, byteorder: Literal["little", "big"], *, inside: bool
) -> Iterator[tuple[int, Listening]]:
    protocol = "tcp" if name.startswith("tcp") else "udp"
    for line in text.splitlines():
        row = _ROW.match(line)
        if row is None:
            continue
        waits = row["state"] == _LISTENS if protocol == "tcp" else row["state"] != _CONNECTED
        if waits:
            address = _address(row["address"], byteorder)
            number = int(row["inode"])
            yield number, Listening(protocol, address, int(row["port"], 16), inside, number)


def _unix(text: str, *, inside: bool) -> Iterator[tuple[int, Listening]]:
    for line in _unix_lines(text):
        row = _UNIX_ROW.fullmatch(line)
        if row is not None and row["path"] and int(row["flags"], 16) & _ACCEPTS:
            number = int(row["inode"])
            yield number, Listening("unix", row["path"], None, inside, number)


def _unix_lines(text: str) -> Iterator[str]:
    """The table's rows. A name may hold a newline: what looks like no row belongs to the name in the row before it."""
    whole = ""
    for line in text.removesuffix("\n").split("\n"):
        if whole and not _UNIX_BEGINS.match(line):
            whole += f"\n{line}"
            continue
        yield whole
        whole = line
    yield whole


def _address(said: str, byteorder: Literal["little", "big"]) -> str:
    """The kernel prints an address as words of four bytes, each in the machine's own order."""
    words = [int(said[start : start + 8], 16).to_bytes(4, byteorder) for start in range(0, len(said), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words))
