"""What did evalkit really ask, and what did the server itself answer?

A proxy on loopback that keeps both, independent of evalkit, so that its record can be held against the truth.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONGEST_S = 600.0


@dataclass(frozen=True, slots=True)
class Heard:
    """One request with its response."""

    sent: dict[str, Any]
    status: int
    body: bytes

    @property
    def answer(self) -> dict[str, Any]:
        """The response's JSON object; empty where it is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def usage(self) -> tuple[int, int] | None:
        """Tokens in and out as the server counted them; None where it answered with an error."""
        usage = self.answer.get("usage")
        return (usage["prompt_tokens"], usage["completion_tokens"]) if usage else None

    @property
    def finish(self) -> str | None:
        """Why the answer ended, in the server's words."""
        choices = self.answer.get("choices")
        return choices[0]["finish_reason"] if choices else None

    @property
    def message(self) -> dict[str, Any]:
        """What the model said; empty where the server answered with an error."""
        choices = self.answer.get("choices")
        return choices[0]["message"] if choices else {}

    @property
    def told(self) -> str:
        """The first thing the user said: the task's instruction."""
        return next(str(one["content"]) for one in self.sent["messages"] if one["role"] == "user")


@dataclass(slots=True)
class Proxy:
    """Where evalkit asks instead of at the server."""

    address: str
    heard: list[Heard] = field(default_factory=list)
    """In the order in which responses came."""


@contextmanager
def recording(server: str, tell_tools: Collection[str]) -> Generator[Proxy]:
    """A proxy before the server's address. What the models in `tell_tools` are asked is made to suit the server."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            sent = json.loads(body)
            if sent["model"] in tell_tools:
                body = json.dumps(_suited(sent)).encode()
            status, answer = _forward(server + self.path, body)
            with lock:
                proxy.heard.append(Heard(sent, status, answer))
            with suppress(ConnectionError):  # evalkit no longer waits, because it was interrupted
                self._answer(status, answer)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the signature is the library's
            """Stay quiet."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    proxy = Proxy(f"http://127.0.0.1:{listener.server_address[1]}")
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        listener.shutdown()
        listener.server_close()


def _suited(sent: dict[str, Any]) -> dict[str, Any]:
    """A request with what OpenAI lets callers leave out and llama-cpp-python's tool calling does not.

    Without `tool_choice` it does not tell the model about tools.
    """
    return {"tool_choice": "auto", **sent}


def _forward(url: str, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=LONGEST_S) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 502, json.dumps({"error": {"message": f"the model server is gone: {error}"}}).encode()
