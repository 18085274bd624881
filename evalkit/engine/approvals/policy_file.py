"""What does a file of approvals say?"""

from __future__ import annotations

from pathlib import Path

from evalkit.engine.approvals.policy import Approvals
from evalkit.tomlfile import read_toml

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
    return approvals
