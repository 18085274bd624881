"""Which code that is not evalkit's own does an agent consist of?

A loop and tools of the user's or of a package, and MCP servers. Each is pinned by a digest, because it is part of what
is under test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evalkit.trajectory.canonical import canonical_json

OUR_LOOPS = ("react", "task")
"""Our own loop, and an Inspect task's own solver."""


@dataclass(frozen=True, slots=True)
class Source:
    """One loop or tool."""

    text: str
    """`/absolute/FILE.py@name` or `package/name`."""
    name: str
    digest: str
    """sha256 of the file, or of the package's name and version."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: a command that is started, or an address."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    url: str | None = None
    tools: tuple[str, ...] | None = None
    """Globs of what the agent gets; None: everything."""
    digest: str | None = None
    """sha256 of those of its arguments that are files; None where none is."""


@dataclass(frozen=True, slots=True)
class OwnCode:
    """All of it. Nothing, by default."""

    loop: Source | None = None
    tools: tuple[Source, ...] = ()
    servers: tuple[McpServer, ...] = ()

    @property
    def id(self) -> str:
        """`tools#` with the first digits of the digest of tools and servers; empty where there are none."""
        if not self.tools and not self.servers:
            return ""
        parts = {key: value for key, value in self.parts.items() if key != "loop"}
        return f"tools#{hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:6]}"

    @property
    def parts(self) -> dict[str, Any]:
        """As JSON values; nothing for what there is not."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> OwnCode:
        """Read what `parts` wrote."""
        loop = parts.get("loop")
        return cls(
            loop=Source(**loop) if loop else None,
            tools=tuple(Source(**one) for one in parts.get("tools", ())),
            servers=tuple(_server(one) for one in parts.get("servers", ())),
        )


def _server(fields: Mapping[str, Any]) -> McpServer:
    changed: dict[str, Any] = {"args": tuple(fields["args"])}
    if fields["tools"] is not None:
        changed["tools"] = tuple(fields["tools"])
    return McpServer(**{**fields, **changed})
