"""A browser, where there is one, and a small run."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A Chromium; skip where there is none, fail where one is required."""
    chromium = shutil.which("chromium")
    if importlib.util.find_spec("playwright") is None or chromium is None:
        problem = "playwright and chromium are not both installed"
        if "browser" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
            pytest.fail(f"a browser is required: {problem}")
        pytest.skip(f"no browser here: {problem}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.fixture
def small_run() -> Callable[..., Path]:
    """An unscored run of one agent, at this path."""

    def make(path: Path, *, agent: str = "a", tasks: int = 3, **columns: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
        about = RunManifest(run_id=path.name, created_at=noon, suites=(SuiteEntry(name="s", digest="d1"),))
        with RunWriter.create(path, about) as writer:
            for task in range(tasks):
                trial = Trial(
                    run_id=path.name, trial_id=f"t{task}.{agent}", suite="s", suite_digest="d1", task_id=f"t{task}",
                    epoch=1, agent=agent, status="passed", **columns,
                )  # fmt: skip
                writer.commit(trial, ())
            writer.finish()
        return path

    return make
