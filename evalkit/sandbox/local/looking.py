"""What has a call changed, and what lives on, in a local sandbox, seen from outside?"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox import digest, sockets
from evalkit.sandbox.local.channel import BubblewrapChannel
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.protocol import Listening, Running
from evalkit.sandbox.running import running, sockets_of
from evalkit.sandbox.walk import OPEN_FOLDER

FRESH_S = 1.0
"""For so long one look at the working directory serves the digest and the listing of a call."""
_BY_PATH = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Looking:
    """Looks at the files of one sandbox after its calls."""

    def __init__(self) -> None:
        self._seen: digest.Signatures | None = None
        self._until = 0.0

    def forget(self) -> None:
        """Something else happens now: nothing that was seen is used again."""
        self._seen = None

    def digest(self, tree: Tree, workdir: str) -> str | None:
        """See `Sandbox.workspace_digest`."""
        self._seen = None
        try:
            with tree.parent_of(workdir) as (parent, name):
                folder = os.open(name, _BY_PATH, dir_fd=parent)
                try:
                    found = digest.signatures(folder)
                finally:
                    os.close(folder)
        except (FileNotFoundError, NotADirectoryError):
            return digest.MISSING
        except (OSError, SandboxError):  # links that the agent made, in a circle or to the machine's files
            return None
        if found is None:
            return None
        self._seen, self._until = found, time.monotonic() + FRESH_S
        return digest.digest_of(found)

    def listing(self, tree: Tree) -> Mapping[str, str] | None:
        """See `Sandbox.listing`. Right after a digest the working directory is not walked again."""
        known, self._seen = self._seen, None
        root = os.open(tree.root, OPEN_FOLDER)
        try:
            found = digest.signatures(root, known=known if time.monotonic() < self._until else None)
        finally:
            os.close(root)
        return None if found is None else {path: one for path, one in found.by_path.items() if path}


def processes(channel: BubblewrapChannel | None) -> tuple[Running, ...]:
    """Everything alive but process 1 and the kept shell, oldest first; nothing where no shell runs."""
    if channel is None:
        return ()
    found = [running(one.pid) for one in sorted(channel.others())]
    return tuple(one for one in found if one is not None)


def listeners(channel: BubblewrapChannel | None, *, shared: bool) -> tuple[Listening, ...]:
    """Every socket that waits; of a network that is `shared` with the machine, those that its processes have open.

    Raises SandboxError where the kernel does not tell.
    """
    if channel is None:
        return ()
    alive = channel.processes()
    only = set[int]().union(*(sockets_of(one.pid) for one in alive)) if shared else None
    try:
        return sockets.listening(sockets.tables(Path(f"/proc/{channel.init}/net")), only=only)
    except FileNotFoundError:  # everything has just ended
        return ()
    except OSError as error:
        raise SandboxError(f"the sandbox's sockets cannot be read: {error.strerror}") from error
