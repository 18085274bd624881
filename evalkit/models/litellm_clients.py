"""Which HTTP clients does litellm use? Ours, one for each event loop, so that everything on the wire is heard."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateImportUsage=false, reportIncompatibleMethodOverride=false
# (litellm is loosely typed)

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

import httpx
import litellm
from litellm.caching.llm_caching_handler import LLMClientCache
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from evalkit.models.wiretap import HOOKS

_HANDLERS = "async_httpx_client"
"""What litellm's keys for its own HTTP clients begin with."""


class HeardClients(LLMClientCache):
    """litellm's store of clients, which hands out one client an event loop, and that one is listened to."""

    def __init__(self) -> None:
        super().__init__()
        self._handlers: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncHTTPHandler] = WeakKeyDictionary()

    def get_cache(self, key: str, loop_bound: bool = True, **kwargs: object) -> object:
        if key.startswith(_HANDLERS):
            return self.handler()
        return super().get_cache(key, loop_bound=loop_bound, **kwargs)

    def handler(self) -> AsyncHTTPHandler:
        """The running event loop's handler."""
        loop = asyncio.get_running_loop()
        handler = self._handlers.get(loop)
        if handler is None:
            handler = self._handlers[loop] = AsyncHTTPHandler(event_hooks=HOOKS)
        return handler

    def client(self) -> httpx.AsyncClient:
        """The running event loop's client, for the parts of litellm that want a bare one."""
        return self.handler().client

    async def aclose(self) -> None:
        """Close the running event loop's client."""
        handler = self._handlers.pop(asyncio.get_running_loop(), None)
        if handler is not None:
            await handler.close()
        await litellm.close_litellm_async_clients()


class _RunningLoopsHandler(AsyncHTTPHandler):
    """litellm's one handler of the whole process, whose connections are nevertheless those of the running event loop.

    litellm streams some providers' answers (Anthropic's among them) through it, in whichever loop it is asked.
    """

    def __init__(self, clients: HeardClients) -> None:
        super().__init__(event_hooks=HOOKS)
        self._clients = clients

    @property
    def client(self) -> httpx.AsyncClient:
        return self._clients.client()


def install() -> HeardClients:
    """Make litellm use clients that are listened to."""
    clients = HeardClients()
    litellm.disable_aiohttp_transport = True  # httpx's own transport takes proxies from the environment
    litellm.in_memory_llm_clients_cache = clients
    litellm.module_level_aclient = _RunningLoopsHandler(clients)
    return clients
