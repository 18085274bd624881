"""Which hosts may be reached, in Harbor's words?"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Literal

from pydantic import AfterValidator

NetworkMode = Literal["no-network", "public", "allowlist"]

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def _host(entry: str) -> str:
    """One allowed host, normalised: a name, `*.name`, an address or a CIDR range."""
    host = entry.strip().lower().rstrip(".")
    if "/" in host or ":" in host:
        if not _is_range(host):
            raise ValueError(
                f"{entry!r} should be a host name, an address or a CIDR range, without scheme or port"
            )
        return host
    name = host.removeprefix("*.")
    labels_fit = all(_LABEL.fullmatch(label) for label in name.split("."))
    if not labels_fit or (host != name and _is_range(name)):
        raise ValueError(f"{entry!r} should be a host name, *.name, an address or a CIDR range")
    return host


def _is_range(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return "%" not in text


def _hosts(entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_host(entry) for entry in entries)


AllowedHosts = Annotated[tuple[str, ...], AfterValidator(_hosts)]


def network_fits(mode: NetworkMode | None, hosts: tuple[str, ...] | None) -> None:
    """Raise ValueError where hosts are listed although the mode does not ask for them."""
    if hosts and mode != "allowlist":
        raise ValueError('allowed_hosts needs network_mode = "allowlist"')


def reaches_network(mode: NetworkMode, hosts: tuple[str, ...] | None) -> bool:
    """Whether anything at all may be reached."""
    return mode == "public" or (mode == "allowlist" and bool(hosts))
