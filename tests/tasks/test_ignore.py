"""Patterns of .gitignore and .dockerignore."""

import pytest

from evalkit.tasks.ignore import dockerignore_rules, gitignore_rules, glob_fits, ignores


@pytest.mark.parametrize(
    ("patterns", "path", "ignored"),
    [
        ("*.pyc", "a/b/c.pyc", True),
        ("__pycache__/", "a/__pycache__/x", True),
        ("build/", "build", False),
        ("build", "a/build/x", True),
        ("/build", "a/build", False),
        ("a/b", "x/a/b", False),
        ("**/b", "x/a/b", True),
        ("a/**", "a/x/y", True),
        ("a/**", "a", False),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("# comment", "# comment", False),
        ("\\#file", "#file", True),
        ("a[0-9].txt", "a5.txt", True),
        ("a[!0-9].txt", "a5.txt", False),
        ("a[b", "a[b", True),
        ("a?c", "a/c", False),
        ("a*c", "axxbxc", True),
        ("", "a", False),
    ],
)
def test_gitignore_patterns(patterns: str, path: str, ignored: bool) -> None:
    assert ignores(gitignore_rules(patterns), path) is ignored


@pytest.mark.parametrize(
    ("patterns", "path", "ignored"),
    [
        ("*.md", "a.md", True),
        ("*.md", "docs/a.md", False),
        ("**/*.md", "docs/a.md", True),
        ("docs", "docs/a.md", True),
        ("/docs/", "docs/a.md", True),
        ("docs\n!docs/keep.md", "docs/keep.md", False),
        ("*", "a", True),
        ("*\n!a", "a", False),
    ],
)
def test_dockerignore_patterns_start_at_the_root(patterns: str, path: str, ignored: bool) -> None:
    assert ignores(dockerignore_rules(patterns), path) is ignored


def test_many_stars_take_no_time() -> None:
    assert not glob_fits("*a" * 60 + "b", "a" * 2000)
    assert not ignores(gitignore_rules("**/a/" * 60 + "b"), "a/" * 1000 + "c")
