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


def process_changes(
    before: Iterable[Running], after: Iterable[Running]
) -> Iterator[tuple[RawChange, Running]]:
    """Processes that were not there, and those that are gone."""
    old = {(one.pid, one.started): one for one in before}
    new = {(one.pid, one.started): one for one in after}
    for key, one in new.items():
        if key not in old:
            resource = f"process:{one.program}"
            yield RawChange("process", resource, "created", None, _command(one), irreversible=False), one
    for key, one in old.items():
        if key not in new:
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


def _socket(one: Listening) -> str:
    return f"socket:{one.protocol}/{one.address if one.port is None else one.port}"


def _path(one: Listening) -> tuple[str, ...]:
    return (one.address,) if one.protocol == "unix" and one.address.startswith("/") else ()


def _command(one: Running) -> str:
    return redact(one.command)[:WORDS]
