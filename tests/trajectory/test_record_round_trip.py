"""Does everything that goes into Parquet come out as it was?"""

from __future__ import annotations

import dataclasses
import tempfile
import types
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.parquet import read_groups, write_parquet
from evalkit.trajectory.rows import (
    effects_from,
    effects_table,
    scores_from,
    scores_table,
    steps_from,
    steps_table,
    trials_from,
    trials_table,
)
from evalkit.trajectory.schema import EFFECTS, SCORES, STEPS, TRIALS
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial

TEXT = st.text(max_size=20) | st.sampled_from(
    [
        "",
        "\x00",
        "a\x00b",
        "\ud800",
        "caf\udce9",
        "\u202e\u2066",
        "\x1b[31m",
        "</script>",
        "None",
        "NaN",
        "𝔘\U0010ffff",
    ]
)
COUNTS = st.integers(0, 2**63 - 1)
AMOUNTS = st.floats(0, allow_nan=False, allow_infinity=False)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC))
NAMES = frozenset({"run_id", "trial_id", "suite", "task_id", "variant", "agent"})


def values_of(name: str, hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of(*(values_of(name, argument) for argument in arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(name, arguments[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(TEXT, values_of(name, arguments[1]), max_size=3)
    return {
        str: TEXT.filter(len) if name in NAMES else TEXT,
        int: st.integers(1, 9) if name in ("attempt", "replaced_chars") else COUNTS,
        float: AMOUNTS,
        bool: st.booleans(),
        datetime: TIMES,
        types.NoneType: st.none(),
    }[hint]


def made(record: type) -> st.SearchStrategy[Any]:
    hints = get_type_hints(record)
    return st.builds(
        record,
        **{field.name: values_of(field.name, hints[field.name]) for field in dataclasses.fields(record)},
    )


def through_parquet(table: Any, schema: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        write_parquet(path, schema, [table])
        (read,) = read_groups(str(path), schema)
        return read


@settings(max_examples=60, deadline=None)
@given(st.lists(made(Trial), min_size=1, max_size=4))
def test_trials_come_back_as_they_were_stored(trials):
    stored = [cleaned(trial) for trial in trials]
    assert trials_from(through_parquet(trials_table(stored), TRIALS)) == stored


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(made(Prompt), made(Think), made(Act), made(Event)), min_size=1, max_size=6))
def test_steps_come_back_as_they_were_stored(steps):
    stored = [cleaned(step) for step in steps]
    table = through_parquet(steps_table("t1", stored), STEPS)
    assert steps_from(table) == stored
    assert set(table.column("trial_id").to_pylist()) == {"t1"}


@settings(max_examples=40, deadline=None)
@given(st.lists(made(Effect), min_size=1, max_size=4))
def test_effects_come_back_as_they_were_stored(effects):
    stored = [cleaned(effect) for effect in effects]
    assert effects_from(through_parquet(effects_table(stored), EFFECTS)) == stored


@settings(max_examples=40, deadline=None)
@given(st.lists(made(ScoreRow), min_size=1, max_size=4))
def test_scores_come_back_as_they_were_stored(scores):
    stored = [cleaned(score) for score in scores]
    assert scores_from(through_parquet(scores_table(stored), SCORES)) == stored


@pytest.mark.parametrize("step", [Think(step=0), Act(step=0), Event(step=0, event="limit")])
def test_what_is_unknown_of_a_step_is_null_in_its_row(step):
    (row,) = through_parquet(steps_table("t1", [step]), STEPS).to_pylist()
    known = {"trial_id", "step", "kind", "replaced_chars", *(["event"] if step.kind == "event" else [])}
    assert {name for name, value in row.items() if value is not None} == known


def test_what_is_unknown_of_a_trial_is_null_in_its_row(make_trial):
    (row,) = through_parquet(trials_table([make_trial()]), TRIALS).to_pylist()
    known = {"run_id", "trial_id", "suite", "task_id", "variant", "epoch", "attempt", "agent", "status"}
    known |= {"skills", "source", "replaced_chars"}
    assert {name for name, value in row.items() if value is not None} == known


def test_empty_maps_and_texts_are_not_unknown(make_trial):
    trial = make_trial(rewards={}, checks={}, answer="")
    (read,) = trials_from(through_parquet(trials_table([trial]), TRIALS))
    assert (read.rewards, read.checks, read.answer) == ({}, {}, "")


def test_a_row_with_an_impossible_value_is_refused():
    table = steps_table("t1", [Prompt(step=0, role="user", text="")])
    odd = table.set_column(STEPS.get_field_index("kind"), "kind", [["dream"]])
    with pytest.raises(ValueError, match="dream"):
        steps_from(odd)
