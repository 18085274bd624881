"""Which processes and listening sockets were left behind, or are gone?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from evalkit.engine.effects.change import WORDS, RawChange
from evalkit.sandbox.protocol import Listening, Running
from evalkit.trajectory.effect import Change
from evalkit.trajectory.redaction import redact

_VERSION = re.compile(r"(.+?)[.-]?\d+")


@dataclass(frozen=True, slots=True)
class Alive:
    """What runs and listens at one moment."""

    processes: tuple[Running, ...] = ()
    listeners: tuple[Listening, ...] = ()


def lasting(earlier: Iterable[Running], later: Iterable[Running]) -> tuple[Running, ...]:
    """Those that are alive at both moments, as they are at the later one: some have just become another program."""
    known = {_key(one) for one in earlier}
    return tuple(one for one in later if _key(one) in known)


def process_changes(
    before: Iterable[Running], after: Iterable[Running], *, own: Collection[str] = ()
) -> Iterator[tuple[RawChange, Running]]:
    """Processes that were not there, and those that are gone.

    What a process that was there starts and ends, as long as it lives, is its own doing. `own` are the identities of
    what the trial has started before: what they have started since is nobody's loss.
    """
    old = {_key(one): one for one in before}
    new = {_key(one): one for one in after}
    staying = {one.pid for key, one in old.items() if key in new}
    started = {one.pid for one in old.values() if _identity(one) in own}
    for key, one in new.items():
        if key not in old and not _descends(one, new.values(), staying):
            yield _change(one, "created"), one
    for key, one in old.items():
        if key not in new and not _descends(one, old.values(), staying | started):
            yield _change(one, "killed"), one


def socket_changes(before: Iterable[Listening], after: Iterable[Listening]) -> Iterator[RawChange]:
    """Sockets that were not there, and those that are gone; each once, on however many addresses."""
    old = {_socket(one): one for one in before}
    new = {_socket(one): one for one in after}
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was is None and now is not None:
            places = _path(now)
            yield RawChange("socket", name, "created", None, now.address, irreversible=False, places=places)
        elif now is None and was is not None:
            yield RawChange("socket", name, "deleted", was.address, None, places=_path(was))


def holders(alive: Alive, socket: str) -> frozenset[str]:
    """Which processes have the socket of this resource open, as identities; none where nobody knows."""
    numbers = {one.number for one in alive.listeners if _socket(one) == socket}
    return frozenset(_identity(one) for one in alive.processes if not numbers.isdisjoint(one.sockets))


def names_of(one: Running) -> tuple[str, ...]:
    """What a declaration may call a process beside the name of its program: that without a version (`python3.11`,
    `python3`, `python`), and the word that it was called by.

    That word is the process's own, and only believed where one of both names begins with the other.
    """
    called = (one.command.split(" ", 1)[0]).rpartition("/")[2]
    alike = called and (one.program.startswith(called) or called.startswith(one.program))
    names = [name for word in (one.program, called if alike else "") for name in _without_version(word)]
    return tuple(dict.fromkeys(f"process:{name}" for name in names if name))


def _without_version(name: str) -> Iterator[str]:
    yield name
    shorter = name
    while match := _VERSION.fullmatch(shorter):
        shorter = match[1]
        yield shorter


def _change(one: Running, kind: Change) -> RawChange:
    created = kind == "created"
    return RawChange(
        "process",
        f"process:{one.program}",
        kind,
        None if created else _command(one),
        _command(one) if created else None,
        irreversible=False if created else None,
        places=names_of(one),
        identity=_identity(one),
    )


def _identity(one: Running) -> str:
    return f"{one.pid} {one.started}"


def _key(one: Running) -> tuple[int, float]:
    return one.pid, one.started


def _descends(one: Running, among: Iterable[Running], ancestors: set[int]) -> bool:
    parents = {other.pid: other.parent for other in among}
    seen: set[int] = set()
    pid = one.parent
    while pid not in seen:
        if pid in ancestors:
            return True
        seen.add(pid)
        pid = parents.get(pid, pid)
    return False


def _socket(one: Listening) -> str:
    return f"socket:{one.protocol}/{one.address if one.port is None else one.port}"


def _path(one: Listening) -> tuple[str, ...]:
    return (one.address,) if one.protocol == "unix" and one.address.startswith("/") else ()


def _command(one: Running) -> str:
    return redact(one.command)[:WORDS]
