"""Patterns of resources."""

from __future__ import annotations

import pytest

from evalkit.measures.globs import fits


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("/app/**", "/app/a/b"),
        ("/app/*", "/app/a"),
        ("/app/**/x", "/app/x"),
        ("/app/**/x", "/app/a/b/x"),
        ("/app/a", "/app/a"),
        ("/app/a", "/app/a/below"),
        ("/app/[ab]", "/app/b"),
        ("/app/[!ab]", "/app/c"),
        ("/app/?", "/app/x"),
        ("git:refs/heads/*", "git:refs/heads/main"),
        ("git:**", "git:/srv/other:refs/heads/main"),
        ("row:/app/users.db:users:*", "row:/app/users.db:users:7"),
        ("/app/**", "/app/line\nbreak"),
        ("/app/**", "/app/\udcff"),
        ("package:pip/*", "package:pip/requests"),
    ],
)
def test_a_pattern_means(pattern: str, name: str) -> None:
    assert fits([pattern], [name])


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("/app/**", "/app"),
        ("/app/*", "/app/a/b"),
        ("/app/a", "/app/ab"),
        ("/app/*.py", "/app/a.pyc"),
        ("/app/a.b", "/app/axb"),
        ("git:refs/heads/*", "git:refs/heads/feature/x"),
        ("git:refs/heads/release", "git:refs/heads/release-2"),
        ("/**/__pycache__/**", "/app/__pycache"),
    ],
)
def test_a_pattern_does_not_mean(pattern: str, name: str) -> None:
    assert not fits([pattern], [name])
