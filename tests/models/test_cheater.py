"""The cheater is known by name, alone or with an attack."""

import pytest

from evalkit.errors import UsageError
from evalkit.models.scripted import find_persona


def test_the_cheater_plays_everything_and_one_by_name_only_that():
    assert (find_persona("cheater").name, find_persona("cheater").attack) == ("cheater", "")
    one = find_persona("cheater:conftest-hook")
    assert (one.name, one.attack) == ("cheater:conftest-hook", "conftest-hook")


def test_no_other_persona_attacks():
    assert {find_persona(name).attack for name in ("oracle", "nop", "vandal")} == {None}


@pytest.mark.parametrize(
    ("said", "meant"), [("cheeter", "cheater"), ("cheeter:x", "cheater:x"), ("cheater:", "cheater")]
)
def test_a_misspelt_cheater_is_answered_with_the_nearest(said, meant):
    with pytest.raises(UsageError, match=f"Did you mean scripted/{meant}\\?"):
        find_persona(said)
