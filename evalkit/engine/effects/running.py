"""Which processes and listening sockets were left behind, or are gone?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evalkit.engine.effects.change import WORDS, RawChange
from evalkit.sandbox.protocol import Listening, Running
from evalkit.trajectory.redaction import redact


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
    before: Iterable[Running], after: Iterable[Running]
) -> Iterator[tuple[RawChange, Running]]:
    """Processes that were not there, and those that are gone.

    What a process that was there starts and ends, as long as it lives, is its own doing.
    """
    old = {_key(one): one for one in before}
    new = {_key(one): one for one in after}
    staying = {one.pid for key, one in old.items() if key in new}
    for key, one in new.items():
        if key not in old and not _descends(one, new.values(), staying):
            resource = f"process:{one.program}"
            yield RawChange("process", resource, "created", None, _command(one), irreversible=False), one
    for key, one in old.items():
        if key not in new and not _descends(one, old.values(), staying):
            yield RawChange("process", f"process:{one.program}", "killed", _command(one)), one


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
