"""How do tools report to the model, and how long may they take?

Tool settings are part of what is evaluated, so they are data with a digest: agents that differ only in
them are compared like any two agents.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evalkit.tomlfile import read_toml
from evalkit.trajectory.canonical import canonical_json

ErrorStyle = Literal["terse", "plain", "structured"]
KeptEnd = Literal["head", "tail", "both"]
ExitCodes = Literal["always", "nonzero", "never"]
DenialStyle = Literal["terse", "plain", "structured"]


class ToolSettings(BaseModel):
    """What the model sees of a tool call, and the call's bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "default"
    timeout_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """A call that runs longer is killed with everything it started."""
    output_bytes: int = Field(default=16_384, gt=0)
    """What the model sees of each stream; the record keeps more."""
    keep: KeptEnd = "both"
    """Which end survives when output is cut."""
    exit_codes: ExitCodes = "always"
    errors: ErrorStyle = "plain"
    denials: DenialStyle = "plain"
    """Of calls that approvals deny: that they do, with the reason, or as an error object with a hint."""

    @property
    def id(self) -> str:
        """`default`, or the name with the first digits of its digest."""
        if self == ToolSettings():
            return "default"
        digest = hashlib.sha256(canonical_json(self.parts).encode()).hexdigest()
        return f"{self.name}#{digest[:6]}"

    @property
    def parts(self) -> dict[str, Any]:
        """As JSON values. Where denials are told as ever, nothing is said of them: agents keep their digests."""
        parts = self.model_dump()
        if self.denials == "plain":
            del parts["denials"]
        return parts


def load_tool_settings(path: Path | None) -> ToolSettings:
    """Read a tool settings file; the defaults for None. Raises ConfigError naming the file and the key."""
    if path is None:
        return ToolSettings()
    source = read_toml(path)
    return source.validate(ToolSettings, {"name": path.stem, **source.data})
