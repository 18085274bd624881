# pyright: basic
"""How does the engine make or fetch an image, and how is it told to give that up?"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from evalkit.sandbox.docker.complaint import refused, translated
from evalkit.sandbox.docker.connections import Connections
from evalkit.sandbox.docker.pulse import Pulse

if TYPE_CHECKING:
    from docker import APIClient


class Making:
    """One image that is being made, over connections of its own: hanging up makes the engine stop."""

    def __init__(self, client: APIClient, connections: Connections, pulse: Pulse) -> None:
        self._client, self._connections, self._pulse = client, connections, pulse
        self._response: Any = None
        client.hooks["response"].append(self._remember)

    def give_up(self) -> None:
        """Hang up; from any thread, at any time, and for good."""
        self._connections.cut(for_good=True)

    def pull(self, name: str) -> Generator[str]:
        """Fetch an image; yields what the engine says meanwhile. Raises SandboxError."""
        import docker.utils
        from docker.errors import InvalidRepository

        repository, tag = docker.utils.parse_repository_tag(name)
        with self._pulse.watched(), translated(f"pull {name}"):
            try:
                lines = self._client.pull(repository, tag=tag or "latest", stream=True, decode=True)
            except InvalidRepository as error:
                raise refused("pull it", 400, f"invalid reference format: {error}") from error
            yield from self._progress(lines, "pull it")

    def build(
        self, context: BinaryIO, dockerfile: str, tag: str, labels: Mapping[str, str]
    ) -> Generator[str]:
        """Build an image from a tar of its context; yields what the build says. Raises SandboxError."""
        with self._pulse.watched(), translated("build the image"):
            lines = self._client.build(
                fileobj=context, custom_context=True, dockerfile=dockerfile, tag=tag, labels=dict(labels),
                rm=True, forcerm=True, decode=True, timeout=None,
            )  # fmt: skip
            yield from self._progress(lines, "build it")

    def _remember(self, response: Any, *_: Any, **__: Any) -> None:
        self._response = response

    def _progress(self, lines: Iterable[Mapping[str, Any]], doing: str) -> Iterator[str]:
        """What the engine says while it works. Leaving early hangs up, which makes it stop."""
        response = self._response
        try:
            for line in lines:
                if "error" in line:
                    raise refused(doing, 500, str(line["error"]))
                text = line.get("stream") or line.get("status") or ""
                if text:
                    yield str(text)
        finally:
            response.close()
