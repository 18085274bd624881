"""Which kept shells run in a container? One for each user that commands run as."""

from __future__ import annotations

from evalkit.sandbox.docker.channel import DockerChannel
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.transfer import Owner
from evalkit.sandbox.docker.warden import Warden
from evalkit.sandbox.shell import KeptShell


class Shells:
    """The shells of one container. Closing one kills everything inside, so all go together."""

    def __init__(self) -> None:
        self._by_user: dict[str, tuple[KeptShell, DockerChannel]] = {}
        self.staged: set[str] = set()
        """Paths of files that were put inside for a shell; one that dies does not remove them."""

    def __bool__(self) -> bool:
        return bool(self._by_user)

    async def open(self, engine: Engine, container: str, warden: Warden, user: str) -> KeptShell:
        """Start the user's shell on the files as they are. An engine that falls silent raises EngineSilent."""
        with engine.waiting():
            channel = await DockerChannel.open(engine, container, warden, user, self.staged)
            shell = KeptShell(channel)
            await shell.start()
        self._by_user[user] = shell, channel
        return shell

    def of(self, user: str) -> KeptShell | None:
        """The user's shell; None where none was started."""
        return self._by_user[user][0] if user in self._by_user else None

    def owner(self, user: str) -> Owner:
        """The numbers of a user whose shell runs."""
        return self._by_user[user][1].owner

    @property
    def busy(self) -> KeptShell | None:
        """The shell in which a command is running."""
        return next((shell for shell, _ in self._by_user.values() if shell.busy), None)

    async def close(self) -> None:
        """Kill everything inside. The shells stay, for who uses them to find out."""
        for shell, _ in list(self._by_user.values()):
            await shell.close()

    async def drop(self) -> None:
        """Kill everything inside, and forget the shells."""
        dropped, self._by_user = self._by_user, {}
        for shell, _ in dropped.values():
            await shell.close()

    def hang_up(self) -> None:
        """Let go of shells whose engine does not answer any more."""
        for _, channel in self._by_user.values():
            channel.hang_up()
