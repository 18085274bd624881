"""Are equal values equal text?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.trajectory.canonical import canonical_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_a_value_comes_back_from_its_text(value):
    assert json.loads(canonical_json(value)) == value


def test_keys_are_sorted_and_nothing_is_escaped_or_spaced():
    assert canonical_json({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, {"a": object()}, {1: 1, "a": 2}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(ValueError):
        canonical_json(value)


def test_bottomless_nesting_is_refused():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="deeply"):
        canonical_json(value)
