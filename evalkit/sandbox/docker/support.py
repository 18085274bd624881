"""Can trials run in containers here, and has a killed run left any behind?"""

from __future__ import annotations

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.container import OWNER, RUN, TRIAL, owner_of
from evalkit.sandbox.docker.engine import connect
from evalkit.sandbox.local.support import Support


def check_docker() -> Support:
    """Ask the engine for its version. Where it is missing, stopped, forbidden or too old, say what to do."""
    try:
        engine = connect()
        engine.ping()
    except SandboxError as error:
        return Support(ok=False, runtime=None, problem=error.message, hint=error.hint)
    return Support(ok=True, runtime=f"{engine.version.name} {engine.version.version}")


def clean_docker() -> list[str]:
    """Remove containers of evalkit processes that are gone; says which. Nothing where there is no engine.

    Containers of living processes, of other machines that use the same engine, and all that are not labelled as
    evalkit's are left alone, and so are built images, which later runs use again.
    """
    removed: list[str] = []
    try:
        engine = connect()
        for found in engine.owned(OWNER):
            owner = owner_of(found.labels.get(OWNER, ""))
            if owner is None or owner.is_alive() or RUN not in found.labels:
                continue
            engine.remove(found.id)
            trial = found.labels.get(TRIAL, "?")
            removed.append(f"container {found.id[:12]} (run {found.labels[RUN]}, trial {trial})")
    except SandboxError:
        return removed  # without an engine nothing of ours can run
    return removed
