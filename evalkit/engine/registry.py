"""What does evalkit add to Inspect?

This module is the entry point of the group `inspect_ai`; importing it registers everything.
"""

from __future__ import annotations

from inspect_ai.model import ModelAPI, modelapi
from inspect_ai.util import sandboxenv

from evalkit.engine.inspect_sandbox import InspectSandbox
from evalkit.engine.scripted_model import ScriptedModel


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    """`scripted/<persona>` as an Inspect model."""
    return ScriptedModel


@sandboxenv(name="evalkit-local")  # pyright: ignore[reportUntypedClassDecorator]  Inspect's own
class EvalkitLocal(InspectSandbox):
    """The local sandbox (bubblewrap) for any Inspect task."""

    kind = "local"


@sandboxenv(name="evalkit-docker")  # pyright: ignore[reportUntypedClassDecorator]  Inspect's own
class EvalkitDocker(InspectSandbox):
    """The docker sandbox, through the engine's interface alone, for any Inspect task."""

    kind = "docker"


def provider_name(kind: str) -> str:
    """The name under which Inspect knows our sandbox of this kind."""
    return f"evalkit-{kind}"
