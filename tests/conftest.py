"""What every test has: a home of its own, no network for tokenizers, and a local sandbox or a reason."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is at the moment decides no test.
settings.register_profile("evalkit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evalkit")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests are shared out to several processes, those with the container engine go one after the other."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if _needs_engine(item):
                item.add_marker(pytest.mark.xdist_group("engine"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A file's tests stay together, but for those with the container engine, which all do."""
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            group = super()._split_scope(nodeid)
            return group if group != nodeid else nodeid.partition("::")[0]

    return ByFile(config, log)


def _needs_engine(item: pytest.Item) -> bool:
    names: list[str] = getattr(item, "fixturenames", [])
    return item.get_closest_marker("docker") is not None or "docker_support" in names


@pytest.fixture(autouse=True)
def engine_or_none(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests that say that they need the container engine see it: others can neither use nor clean it."""
    if not _needs_engine(request.node):
        monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")


@pytest.fixture(scope="session", autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep every library's files in a temporary home."""
    home = tmp_path_factory.mktemp("home")
    litellm = importlib.util.find_spec("litellm")
    assert litellm is not None
    assert litellm.origin is not None
    tokenizers = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("DATA", "CACHE", "CONFIG", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        patch.setenv("TIKTOKEN_CACHE_DIR", str(tokenizers))
        for name in [name for name in os.environ if name.startswith("INSPECT_")]:
            patch.delenv(name)
        yield home


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def local_support() -> None:
    """Skip where this machine cannot isolate; fail where it is required to."""
    _need("local")


@pytest.fixture(scope="session")
def docker_support() -> None:
    """Skip where there is no container engine; fail where one is required."""
    _need("docker")


@pytest.fixture(
    params=[pytest.param("local", marks=pytest.mark.local), pytest.param("docker", marks=pytest.mark.docker)]
)
def sandbox_kind(request: pytest.FixtureRequest) -> str:
    """Each kind of sandbox that can be had here."""
    _need(request.param)
    return request.param


def _need(kind: str) -> None:
    from evalkit.sandbox import check_sandbox

    support = check_sandbox(kind)
    if support.ok:
        return
    if kind in os.environ.get("EVALKIT_REQUIRE", "").split(","):
        pytest.fail(f"the {kind} sandbox is required: {support.problem} {support.hint}")
    pytest.skip(f"no {kind} sandbox here: {support.problem}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recorded runs and responses of real models, kept next to the repository; skip where they are not."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the recorded data are not next to the repository ({folder})")
    return folder


@pytest.fixture
def somebody() -> Callable[[], AbstractContextManager[None]]:
    """Be somebody who may not read everything: root becomes nobody for a while, others are that already."""

    @contextmanager
    def become() -> Iterator[None]:
        mine = os.geteuid()
        if mine == 0:
            os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(mine)

    return become


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass
class Reply:
    """One canned response. `cut_after` bytes of the body the connection is closed."""

    body: bytes = b""
    status: int = 200
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    delay_s: float = 0.0
    hang_up: bool = False
    """Close the connection without any answer."""


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


class ReplayServer:
    """A model endpoint on loopback that answers with what it is given, in order; the last answer again and again."""

    def __init__(self) -> None:
        self.replies: list[Reply | Callable[[Received], Reply]] = []
        self.requests: list[Received] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                outer._answer(self)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True, kwargs={"poll_interval": 0.02}).start()

    def __call__(self, *replies: Reply | Callable[[Received], Reply]) -> None:
        """Answer with these from now on."""
        self.replies = list(replies)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        received = Received(handler.path, headers, body, time.monotonic())
        with self._lock:
            self.requests.append(received)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if callable(reply):
            reply = reply(received)
        time.sleep(reply.delay_s)
        if reply.hang_up:
            handler.close_connection = True
            return
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-type", reply.content_type)
        handler.send_header("content-length", str(len(reply.body)))
        handler.end_headers()
        handler.wfile.write(reply.body[: reply.cut_after])
        if reply.cut_after is not None:
            handler.close_connection = True

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def endpoint() -> Iterator[ReplayServer]:
    """A model endpoint on loopback: `endpoint(Reply(...), ...)`, then `endpoint.requests`."""
    server = ReplayServer()
    yield server
    server.close()


@pytest.fixture
def reply() -> type[Reply]:
    """One canned response of `endpoint`."""
    return Reply


@pytest.fixture
def said() -> Callable[..., Reply]:
    """A response of chat completions: text, tool calls as (name, arguments text), usage, and what else is named."""

    def make(
        text: str | None = None,
        *calls: tuple[str, str],
        usage: dict[str, Any] | None = None,
        finish: str | None = None,
        model: str = "served-model",
        **message: Any,
    ) -> Reply:
        told: dict[str, Any] = {"role": "assistant", "content": text, **message}
        if calls:
            told["tool_calls"] = [
                {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
                for i, (name, arguments) in enumerate(calls)
            ]
        counts = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        choice = {"index": 0, "message": told, "finish_reason": finish or ("tool_calls" if calls else "stop")}
        whole = {"id": "x", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
        return Reply(json.dumps({**whole, "usage": counts if usage is None else usage}).encode())

    return make


@pytest.fixture
def scored_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run of trials, each with its scores by metric, under one scorer: `scored_run((trial, {"m": 1.0}), ...)`.

    A value may be (value, label). Returns the folder.
    """
    from evalkit.trajectory.manifest import RunManifest
    from evalkit.trajectory.score import ScoreRow
    from evalkit.trajectory.trial import Trial
    from evalkit.trajectory.writer import RunWriter

    def row(trial: Trial, scorer: str, metric: str, given: object) -> ScoreRow:
        value, label = given if isinstance(given, tuple) else (given, None)
        return ScoreRow(
            trial_id=trial.trial_id,
            scorer=scorer,
            scorer_version="1",
            metric=metric,
            value=value,
            label=label,
        )

    def make(
        *trials: tuple[Trial, dict[str, object]], name: str = "run", scorer: str = "success", **manifest: Any
    ) -> Path:
        path = tmp_path / name
        created = datetime(2025, 1, 2, 12, tzinfo=UTC)
        with RunWriter.create(path, RunManifest(run_id="run-1", created_at=created, **manifest)) as writer:
            for trial, _ in trials:
                writer.commit(trial, ())
            scores = [
                row(trial, scorer, metric, given) for trial, own in trials for metric, given in own.items()
            ]
            if scores:
                writer.write_scores(scores)
            writer.finish()
        return path

    return make
