"""A pattern finds what `re.search` finds, and no text makes it hold anybody up."""

from __future__ import annotations

import asyncio

import pytest

from evalkit.tasks import pattern


def found(wanted: str, text: str) -> bool:
    return asyncio.run(pattern.found_in(pattern.checked(wanted), text))


@pytest.mark.parametrize("nested", ["(a+)+", "(?:x*y)*", r"((\d+),)+", "(a|b+){2,}"])
def test_a_repeated_group_that_repeats_is_refused(nested):
    with pytest.raises(ValueError, match="itself repeated"):
        pattern.checked(nested)


@pytest.mark.parametrize(
    "harmless", ["(ab)+", "[(+]+x", r"\(a+\)+", "(a+)?b", r"(?m)^\./rates today", "a{3}b"]
)
def test_other_patterns_are_taken(harmless):
    assert pattern.checked(harmless) == harmless


@pytest.mark.parametrize(
    ("wanted", "text", "there"),
    [
        ("curl .*orders", "x; curl -s host/orders", True),
        ("curl .*orders", "curl " * 2000, False),
        (".*a.*b.*c", "x" * 5000 + "a1b2c", True),
        ("(?m)^b$", "a\nb\n", True),
        ("(ab)+c", "ababc", True),
        (r"(a)\1", "xaax", True),
        ("\u00e9+.*", "caf\u00e9 \udc80", True),
    ],
)
def test_it_finds_what_is_there(wanted, text, there):
    assert found(wanted, text) is there


def test_what_would_take_for_ever_does_not_match(monkeypatch):
    monkeypatch.setattr(pattern, "SEARCH_S", 0.5)
    assert not found("(a|aa)+$", "a" * 60 + "!")
