"""What every test has: a home of its own, no network for tokenizers, and a local sandbox or a reason."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is at the moment decides no test.
settings.register_profile("evalkit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evalkit")


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
