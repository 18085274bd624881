"""How does everything in a container end while its files stay?"""

from __future__ import annotations

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.channel import outside
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.warden import Warden

_ROUNDS = 3


async def kill_everything(engine: Engine, container: str, warden: Warden) -> None:
    """Kill all but process 1, and have the engine count what is left. Raises SandboxError where something lives on."""
    for _ in range(_ROUNDS):
        await warden.kill_all()
        if await outside(lambda: engine.processes(container)) <= 1:
            return
    raise SandboxError(
        "something inside the container cannot be killed",
        where=container,
        hint="Its trial cannot be judged.",
    )
