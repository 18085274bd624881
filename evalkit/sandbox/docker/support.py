"""Can trials run in containers here, and has a killed run left any behind?"""

from __future__ import annotations

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.engine import connect
from evalkit.sandbox.docker.leftovers import clean_containers, clean_images
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
    """Remove what evalkit processes that are gone have left on the engine; says what. Nothing where there is none.

    Containers of living processes, of other machines that use the same engine, and all that are not labelled as
    evalkit's are left alone. Built images are a cache: those of this user on this machine are removed a week after
    their last use, with the layers that their builds left; see `leftovers.clean_images`.
    """
    removed: list[str] = []
    try:
        engine = connect()
        removed += clean_containers(engine)
        removed += clean_images(engine)
    except SandboxError:
        return removed  # without an engine nothing of ours can run
    return removed


def clean_docker_sandboxes() -> list[str]:
    """Remove the containers alone, as `clean_docker` does; says which."""
    try:
        return clean_containers(connect())
    except SandboxError:
        return []
