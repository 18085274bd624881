# pyright: basic
"""Which connections to the engine are open, and how do all that wait on them stop waiting?

A thread that waits for an engine cannot be cancelled, but its connection can be shut down by another thread.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docker import APIClient

_UNIX = "http+docker://"


class Connections:
    """The connections that one client has opened."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._over = False

    def carry(self, client: APIClient, host: str, *, timeout_s: int, at_once: int) -> None:
        """Have a client open its connections here. `host` is what DOCKER_HOST would say."""
        if host.startswith("unix://"):
            path = host.removeprefix("unix://")
            client.mount(_UNIX, _unix_adapter(self, path, timeout_s, at_once))
        else:
            client.mount("http://", _tcp_adapter(self, at_once))

    def opened(self, connection: Any) -> None:
        """Know a new connection."""
        with self._lock:
            self._open.add(connection)
            if self._over:
                _shut(connection)

    def cut(self, *, for_good: bool = False) -> None:
        """Shut every connection down, and with `for_good` every later one too."""
        with self._lock:
            self._over = self._over or for_good
            for connection in list(self._open):
                _shut(connection)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _unix_adapter(connections: Connections, path: str, timeout_s: int, at_once: int) -> Any:
    from docker.transport import unixconn

    class Connection(unixconn.UnixHTTPConnection):
        def connect(self) -> None:
            super().connect()
            connections.opened(self.sock)

    class Pool(unixconn.UnixHTTPConnectionPool):
        timeout: Any

        def _new_conn(self) -> Connection:
            return Connection(self.base_url, self.socket_path, self.timeout)

    class Adapter(unixconn.UnixHTTPAdapter):
        def get_connection(self, url: str, proxies: Any = None) -> Pool:  # noqa: ARG002  -- the SDK's signature
            with self.pools.lock:
                pool = self.pools.get(url)
                if pool is None:
                    pool = self.pools[url] = Pool(url, self.socket_path, timeout_s, maxsize=at_once)
                return pool

    return Adapter(f"http+unix://{path}", timeout_s, max_pool_size=at_once)


def _tcp_adapter(connections: Connections, at_once: int) -> Any:
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection
    from urllib3.connectionpool import HTTPConnectionPool

    class Connection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            connections.opened(self.sock)

    class Pool(HTTPConnectionPool):
        ConnectionCls: Any = Connection

    adapter: Any = HTTPAdapter(pool_maxsize=at_once)
    adapter.poolmanager.pool_classes_by_scheme = {"http": Pool}
    return adapter
