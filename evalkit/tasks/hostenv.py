"""Which variables of the host does a task ask for, and what do its own come to without them?

Harbor fills `${NAME}` from the host. A task is somebody else's file, and a host's variables hold its keys:
here they never enter a sandbox by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_TEMPLATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def resolved(env: Mapping[str, str]) -> dict[str, str]:
    """The variables with `${NAME:-other}` as `other`; those that need a variable of the host are left out."""
    left_out = {name for name, _ in wanted(env)}
    return {
        name: _TEMPLATE.sub(lambda match: match[2], value)
        for name, value in env.items()
        if name not in left_out
    }


def wanted(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each name whose value cannot be had without the host, with the host's variable that it needs."""
    for name, value in env.items():
        needed = next((match[1] for match in _TEMPLATE.finditer(value) if match[2] is None), None)
        if needed is not None:
            yield name, needed
