"""What a fault makes of a text is a plain function of it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.engine.faults import canary
from evalkit.engine.faults.alteration import first_half, garbled, value_in
from evalkit.engine.faults.drift import drifted
from evalkit.engine.faults.falsehood import falsehood
from evalkit.sandbox.protocol import Captured, ExecResult
from evalkit.tasks.faults import Fault


def result(stdout: bytes, exit_code: int = 0) -> ExecResult:
    return ExecResult(
        exit_code, Captured(stdout, len(stdout), truncated=False), Captured(b"", 0, truncated=False), 0.1
    )


@pytest.mark.parametrize(
    ("text", "half"),
    [("a\nb\nc\nd\n", "a\nb\n"), ("a\nb\nc", "a\n"), ("12345678\n", "1234"), ("x", None), ("", None)],
)
def test_the_first_half_is_of_lines_or_of_one_lines_characters(text, half):
    assert first_half(text) == half


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("total: 1234.50\n", "1234.50"),
        ("2 files, 17 lines\n", "17"),
        ('{"a": 1, "b": {"c": -2.5}}', "-2.5"),
        ("as of 2024-05-01 it is 12:30, count 8", "8"),
        ("v1.2.3 /srv/9 x7 host-3", "host-3"),
        ("the owner is alice\n", "alice"),
        ('{"ok": true}', "ok"),
        ("--- !!", None),
        ("2024-05-01\n", "2024-05-01"),
    ],
)
def test_the_value_that_is_replaced_is_the_last_number_of_its_own_else_the_last_word(text, value):
    where = value_in(text)
    assert (where and text[slice(*where)]) == value


@pytest.mark.parametrize("value", ["7", "42.50", "-3.1", "1234567.8", "alice"])
def test_a_canary_looks_like_what_it_replaces(value):
    made = canary.like(value, "task", "fault", value)
    assert made != value
    if value == "alice":
        assert made.isalpha()
        return
    float(made)
    assert made.partition(".")[2].isdigit() is ("." in value)
    assert len(made.partition(".")[2]) == len(value.partition(".")[2])
    assert len(made.partition(".")[0].lstrip("-")) >= 5
    assert made.startswith("-") is value.startswith("-")


def test_a_canary_is_the_same_each_time_and_another_in_each_task():
    assert canary.word("a", "f") == canary.word("a", "f") != canary.word("b", "f")
    assert canary.like("1", "a", "f", "") == canary.like("1", "a", "f", "") != canary.like("1", "b", "f", "")


def test_a_canary_is_nothing_that_was_there_before():
    first = canary.like("1", "a", "f", "")
    assert canary.like("1", "a", "f", f"once {first}9 was here") != first


def test_there_is_a_canary_even_where_every_number_of_its_length_is_there():
    made = canary.like("7", "a", "f", " ".join(map(str, range(10_000, 100_000))))
    assert len(made) == 6


@given(st.dictionaries(st.text(), st.integers() | st.text(), min_size=1))
def test_drifted_json_holds_all_that_was_there_under_the_new_name(value):
    assert json.loads(drifted(json.dumps(value), "new") or "") == {"new": value}


def test_numbers_in_drifted_json_stay_as_they_were_written():
    assert drifted('{"a": 1.50}\n', "new") == '{"new": {"a": 1.50}}\n'


def test_every_line_of_json_lines_is_nested():
    assert drifted('{"a": 1}\n{"a": 2}\n', "new") == '{"new": {"a": 1}}\n{"new": {"a": 2}}\n'


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_a_tables_columns_get_new_names_and_its_rows_stay(separator):
    text = f"id{separator}name\n1{separator}x\n2{separator}y\n"
    rows = list(csv.reader(io.StringIO(drifted(text, "new")), delimiter=separator))
    assert rows == [["new.id", "new.name"], ["1", "x"], ["2", "y"]]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("name: x\nage: 3\n", "new:\n  name: x\n  age: 3\n"),
        ("A=1\nB=2\n", "new.A=1\nnew.B=2\n"),
        ("just a line of text\n", None),
        ("1,2\n3,4\n", None),
        ("[]", None),
        ("42\n", None),
        ("", None),
    ],
)
def test_key_and_value_lines_are_nested_and_other_text_is_left(text, shape):
    assert drifted(text, "new") == shape


@given(st.binary(max_size=200))
def test_garbled_bytes_keep_their_number_where_the_mark_fits(data):
    made = garbled(data, "mark")
    body = data.rstrip(b"\r\n")
    if not body:
        assert made is None
    elif len(body) >= 4:
        assert made is not None
        assert (len(made), b"mark" in made) == (len(data), True)


@given(
    st.sampled_from(["partial", "empty", "schema_drift", "garbled", "wrong_value"]), st.binary(max_size=300)
)
def test_any_bytes_can_be_struck(kind, data):
    shown = falsehood(Fault.model_validate({"id": "f", "kind": kind}), "task", result(data))
    if shown is not None and kind != "empty":
        assert shown.result.stdout.data != data
        assert shown.result.stdout.total == len(shown.result.stdout.data)


def test_the_record_counts_what_was_shown_of_output_that_was_cut():
    whole = ExecResult(0, Captured(b"ab\ncd\n", 1000, truncated=True), Captured(b"", 0, truncated=False), 0.1)
    shown = falsehood(Fault.model_validate({"id": "f", "kind": "partial"}), "task", whole)
    assert shown is not None
    assert shown.result.stdout == Captured(b"ab\n", 997, truncated=True)
