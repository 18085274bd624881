"""What every test has: a home of its own, no network for tokenizers, and a local sandbox or a reason."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest


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
    from evalkit.sandbox import check_local

    support = check_local()
    if support.ok:
        return
    if "local" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
        pytest.fail(f"the local sandbox is required: {support.problem} {support.hint}")
    pytest.skip(f"no local sandbox here: {support.problem}")


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
