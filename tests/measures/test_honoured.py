"""Were thinking budgets kept to?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.honoured import honoured
from evalkit.trajectory.step import Think


def thinks(*tokens: int | None) -> list[Think]:
    return [Think(step=number, reasoning_tokens=count) for number, count in enumerate(tokens)]


@pytest.mark.parametrize(
    ("level", "tokens", "kept"),
    [
        ("tokens:100", (10, 100), True),
        ("tokens:100", (10, 101), False),
        ("tokens:100", (10, None), None),
        ("tokens:100", (None, 101), False),
        ("tokens:100", (), None),
        ("off", (0, 0), True),
        ("off", (0, 1), False),
        ("off", (None, 0), None),
        ("off", (None, 1), False),
        ("default", (5,), None),
        ("on", (5,), None),
        ("dynamic", (5,), None),
        ("effort:high", (5,), None),
    ],
)
def test_every_known_generation_counts_and_an_unknown_one_leaves_it_open(level, tokens, kept):
    assert honoured(level, thinks(*tokens)) is kept


def test_thinking_that_can_be_read_breaks_off_whatever_its_count():
    assert honoured("off", [Think(step=0, reasoning="Hm.", reasoning_tokens=0)]) is False
    assert honoured("off", [Think(step=0, reasoning="Hm.")]) is False


def test_a_count_of_nothing_for_thinking_that_can_be_read_is_unknown():
    assert honoured("tokens:5", [Think(step=0, reasoning="Hm.", reasoning_tokens=0)]) is None


@given(st.lists(st.integers(0, 50)), st.integers(1, 50), st.integers(0, 50))
def test_more_room_never_turns_kept_into_broken(tokens, budget, more):
    kept = honoured(f"tokens:{budget}", thinks(*tokens))
    assert not kept or honoured(f"tokens:{budget + more}", thinks(*tokens))
    assert kept is (None if not tokens else max(tokens) <= budget)
