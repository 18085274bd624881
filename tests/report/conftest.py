"""A browser, where there is one."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


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
