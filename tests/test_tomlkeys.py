"""Lines of keys in TOML texts."""

import json
import tomllib
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from evalkit.tomlkeys import KeyPath, key_lines

TEXT = '''\
a = 1
b.c = """x
[no]
"" """
[t."q x".'z']
arr = [ 1, # not a key = 2
  {k = 1, m = [2,
  3]},
  "]",
]
[[f]]
id = "x"
when = { tool = "b", matches = "c,}" }
[[f]]
  id = 3
[f.sub]
z = 1979-05-27 07:32:00
[[f.list]]
q = 1
[[f.list]]
q = 2
'''


def _paths(value: object, path: KeyPath = ()) -> set[KeyPath]:
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(cast("dict[str | int, object]", value).items())
    elif isinstance(value, list):
        items = list(enumerate(cast("list[object]", value)))
    found = {(*path, key) for key, _ in items}
    return found.union(*(_paths(item, (*path, key)) for key, item in items))


def test_every_key_has_the_line_it_stands_on() -> None:
    lines = key_lines(TEXT)

    assert lines["a",] == 1
    assert lines["b", "c"] == 2
    assert lines["t", "q x", "z", "arr", 1, "m", 1] == 8
    assert lines["t", "q x", "z", "arr", 2] == 9
    assert lines["f", 0, "when", "matches"] == 13
    assert lines["f", 1, "id"] == 15
    assert lines["f", 1, "list", 1, "q"] == 21


def test_every_key_that_tomllib_reads_is_found() -> None:
    assert set(key_lines(TEXT)) == _paths(tomllib.loads(TEXT))


keys = st.text("ab.\"' \\#=[]é", max_size=4)
scalars = st.one_of(st.integers(-9, 9), st.booleans(), st.text("a\"'\\#=[]{},\n", max_size=6))
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)


def _inline(value: Any) -> str:
    """A value in TOML's inline form; JSON's strings are TOML's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n".join(_inline(item) for item in value) + "]"
    return json.dumps(value)


@given(st.dictionaries(keys, values, max_size=4))
def test_every_key_of_any_document_is_found(document: dict[str, Any]) -> None:
    text = "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in document.items())

    assert set(key_lines(text)) == _paths(tomllib.loads(text))
