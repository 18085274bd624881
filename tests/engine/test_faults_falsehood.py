"""What a fault makes of a text is a plain function of it."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.engine.faults import canary
from evalkit.engine.faults.alteration import first_half, garbled, value_in
from evalkit.engine.faults.drift import drifted
from evalkit.engine.faults.falsehood import falsehood, nothing_to_do
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
        ("p = 1.5e-3", "1.5e-3"),
        ("1,234,567 bytes", "1,234,567"),
        ("$1,234.50", "1,234.50"),
        ("up +5, 99%", "99"),
        ("at +5", "+5"),
        ('{"a":1,"b":[100,200]}', "200"),
        ("n,m\n100,200\n", "200"),
        ("alice,100,5", "5"),
        ("about 3,14", "3,14"),
        ("v1.2.3", "v1.2.3"),
        ("1.2.3", "1.2.3"),
        ("1.234.567,89", "1.234.567,89"),
        ("0x1f", "0x1f"),
        ("5.txt", "5.txt"),
        ("10.0.0.1:80", "10.0.0.1:80"),
        ("1'234", "1'234"),
        ("12:30", "12:30"),
        ("me@host.org", "me@host.org"),
        ("I don't", "don't"),
        ("1_000 x", "x"),
        ("abc/def", None),
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


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("1.5e-3", r"[1-9]\d{4}\.\de-3"),
        ("2E5", r"[1-9]\d{4}E5"),
        ("1,234,567.5", r"[1-9],\d{3},\d{3}\.\d"),
        ("1,234", r"[1-9]\d,\d{3}"),
        ("+5", r"\+[1-9]\d{4}"),
        ("00012", r"0\d{4}"),
        ("3,14", r"[1-9]\d{4},\d\d"),
    ],
)
def test_a_number_of_any_form_gets_a_canary_of_its_form(value, form):
    assert re.fullmatch(form, canary.like(value, "task", "fault", value))


@given(
    st.sampled_from(["{}", "total: {} EUR", "({})", "x = {};", '{{"a": {}}}', "a b\n{}\n"]),
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    st.sampled_from(["", ",", ".2f", ".3e", "+"]),
)
def test_one_whole_number_is_replaced_by_one(around, number, how):
    if how.endswith(("f", "e")):
        number = float(number) if abs(number) < 1e300 else 1.0
    text = around.format(f"{number:{how}}")
    shown = falsehood(Fault.model_validate({"id": "f", "kind": "wrong_value"}), "task", result(text.encode()))
    assert shown is not None
    begin, _, end = around.replace("{{", "{").replace("}}", "}").partition("{}")
    seen = shown.result.stdout.data.decode()
    assert seen.startswith(begin)
    assert seen.endswith(end)
    float(seen.removeprefix(begin).removesuffix(end).replace(",", ""))


TOKENS = "v1.2.3 1.2.3 2024-05-01 12:30:01 0x1f a/b /srv/9 me@h.org 10.0.0.1:80 5.txt x-1 1'234 5ms #12 3/4 1_000 C++"


@given(st.lists(st.sampled_from(TOKENS.split()), min_size=1, max_size=6))
def test_no_part_of_a_longer_token_is_replaced(tokens):
    where = value_in(" ".join(tokens))
    assert where is None or " ".join(tokens)[slice(*where)] in tokens


def test_thousands_are_shown_with_commas_and_traced_without():
    shown = falsehood(Fault.model_validate({"id": "f", "kind": "wrong_value"}), "task", result(b"1,234,567"))
    assert shown is not None
    assert (shown.result.stdout.text.replace(",", ""), "," in shown.result.stdout.text) == (
        shown.canary,
        True,
    )


@pytest.mark.parametrize("kind", ["wrong_value", "garbled", "schema_drift"])
def test_a_given_canary_that_is_true_proves_nothing(kind):
    fault = Fault.model_validate({"id": "f", "kind": kind, "canary": "1250"})
    true = result(b"total: 1250\n")
    assert falsehood(fault, "task", true) is None
    assert (
        nothing_to_do(fault, true)
        == "its canary '1250' stands in what was really printed, so it would prove nothing"
    )


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
