"""What does a file of approvals say?"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path

from evalkit.engine.approvals.policy import Approvals
from evalkit.tomlfile import nearest, read_toml
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.redaction import redact

_HINT = "Approvals are a TOML file of [[rule]] tables: --approvals approvals.toml."


def load_approvals(path: Path | None) -> Approvals | None:
    """Read approvals; None for None. Raises ConfigError naming the file, the key and the nearest known one."""
    if path is None:
        return None
    source = read_toml(path, hint=_HINT)
    approvals = source.validate(Approvals, {"name": path.stem, **source.data})
    seen: set[str] = set()
    for number, rule in enumerate(approvals.rule):
        if rule.name in seen:
            raise source.error(
                f"two rules are called {rule.name!r}",
                ("rule", number, "name"),
                "The record tells decisions by the rule's name; rename this one.",
            )
        seen.add(rule.name)
        if redact(text := canonical_json(rule.model_dump())) != text:
            raise source.error(
                f"the rule {rule.name!r} holds what looks like a secret, which would not be stored with the run",
                ("rule", number),
                "Describe it in another way; `resume` goes on with the rules that were stored.",
            )
    return approvals


def check_tools(path: Path, approvals: Approvals, tools: Sequence[str]) -> None:
    """Raise ConfigError for a rule that is about none of the tools that agents have."""
    for number, rule in enumerate(approvals.rule):
        if rule.tool is not None and not fnmatch.filter(tools, rule.tool):
            raise read_toml(path).error(
                f"the rule {rule.name!r} is about {rule.tool!r}, and no agent has a tool of that name",
                ("rule", number, "tool"),
                nearest(rule.tool, tools).replace("Known here", "Tools that rules can be about"),
            )
