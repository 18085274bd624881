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
        problem = f"{error.where}: {error.message}" if error.where else error.message
        return Support(ok=False, runtime=None, problem=problem, hint=error.hint)
    return Support(ok=True, runtime=f"{engine.version.name} {engine.version.version}")


def missing_runtime(runtime: str) -> tuple[str, ...] | None:
    """The runtimes that the engine knows, where the named one is not among them; None where it may be used.

    Names of containerd's shims and paths are not in the engine's list, so only the first container shows whether
    they can be used. Raises SandboxError.
    """
    known = tuple(connect().runtimes())
    if not known or runtime in known or "/" in runtime or runtime.startswith("io.containerd."):
        return None
    return known


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
