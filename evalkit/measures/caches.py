# ruff: noqa: S108  these are paths inside of sandboxes
"""What do tools leave behind that nobody would call a change? It can be made again from what is there."""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.measures.globs import fits

CACHES = (
    "/**/__pycache__/**",
    "/**/*.pyc",
    "/**/.pytest_cache/**",
    "/**/.mypy_cache/**",
    "/**/.ruff_cache/**",
    "/**/.hypothesis/**",
    "/**/.tox/**",
    "/**/.coverage",
    "/root/.cache/**",
    "/home/*/.cache/**",
    "/**/node_modules/.cache/**",
    "/**/.npm/_cacache/**",
    "/**/.npm/_logs/**",
    "/**/.cargo/registry/**",
    "/**/.gradle/caches/**",
    "/**/.ipynb_checkpoints/**",
    "/root/.python_history",
    "/home/*/.python_history",
    "/root/.bash_history",
    "/home/*/.bash_history",
    "/root/.lesshst",
    "/home/*/.lesshst",
    "/var/cache/**",
    "/var/lib/apt/lists/**",
    "/var/log/apt/**",
    "/var/log/dpkg.log",
    "/etc/ld.so.cache",
    "/tmp/pip-*/**",
    "/tmp/npm-*/**",
    "/tmp/pytest-of-*/**",
    "/tmp/node-compile-cache/**",
    "/tmp/v8-compile-cache-*/**",
    "/tmp/hsperfdata_*/**",
)
"""The table of caches, as patterns of paths; a folder is one with all that is in it."""
_PATTERNS = (*CACHES, *(one.removesuffix("/**") for one in CACHES if one.endswith("/**")))


def is_cache(names: Iterable[str]) -> bool:
    """Whether the table knows one of these names."""
    return fits(_PATTERNS, names)
