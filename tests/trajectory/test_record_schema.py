"""Do the tables have the columns that the record promises?"""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from evalkit.errors import ConfigError
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.schema import EFFECTS, SCHEMA_VERSION, SCORES, STEPS, TRIALS, check_version, upgraded
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial

TRIAL_COLUMNS = """
    run_id trial_id suite suite_digest task_id task_digest variant epoch attempt agent agent_digest skills
    difficulty
    agent_loop depth model model_served thinking thinking_taken thinking_sent thinking_honoured tool_settings approvals
    temperature
    seed
    sandbox sandbox_runtime image_digest host
    started_at finished_at queue_s build_s start_s setup_s agent_s grade_s model_s tool_s retry_s
    status reward rewards checks answer confidence stop_reason error_origin error_type error_message
    grader_mode grader_digest
    model_calls tool_calls input_tokens cache_read_tokens cache_write_tokens output_tokens reasoning_tokens
    reasoning_visibility reasoning_source cost_usd price_source
    faults_planned faults_fired effects_measured naive_passed deliverables source source_uri raw_usage replaced_chars
"""
STEP_COLUMNS = """
    trial_id step kind parent_step started_at duration_s replaced_chars
    role text
    reasoning reasoning_tokens reasoning_visibility output_tokens input_tokens cache_read_tokens
    cache_write_tokens cost_usd finish_reason model_served request_digest retries blocks
    think_step call_index tool arguments arguments_raw observation stdout stderr stdout_bytes stderr_bytes
    stdout_truncated stderr_truncated exit_code error_kind fault_id approval workspace_digest
    event detail
"""
EFFECT_COLUMNS = """
    trial_id step channel resource change before after bytes class irreversible transient severity evidence
"""
SCORE_COLUMNS = """
    trial_id scorer scorer_version metric value label reason evidence scored_at reference_digest
"""


def fields_of(*records: type) -> set[str]:
    return {field.name.removesuffix("_") for record in records for field in dataclasses.fields(record)}


@pytest.mark.parametrize(
    ("schema", "columns"),
    [(TRIALS, TRIAL_COLUMNS), (STEPS, STEP_COLUMNS), (EFFECTS, EFFECT_COLUMNS), (SCORES, SCORE_COLUMNS)],
    ids=["trials", "steps", "effects", "scores"],
)
def test_a_table_has_the_promised_columns_in_the_promised_order(schema, columns):
    assert schema.names == columns.split()


def test_every_column_is_a_field_and_every_field_a_column():
    assert fields_of(Trial) == set(TRIALS.names)
    assert fields_of(Prompt, Think, Act, Event) | {"trial_id", "kind"} == set(STEPS.names)
    assert fields_of(Effect) == set(EFFECTS.names)
    assert fields_of(ScoreRow) == set(SCORES.names)


@pytest.mark.parametrize("schema", [TRIALS, STEPS, EFFECTS, SCORES])
def test_the_columns_have_plain_types(schema):
    plain = {
        pa.string(),
        pa.int64(),
        pa.float64(),
        pa.bool_(),
        pa.timestamp("us", tz="UTC"),
        pa.list_(pa.string()),
        pa.list_(pa.int64()),
        pa.map_(pa.string(), pa.float64()),
        pa.map_(pa.string(), pa.bool_()),
    }
    assert {field.type for field in schema} <= plain


def test_a_newer_schema_version_is_refused():
    with pytest.raises(ConfigError, match="schema version") as refused:
        check_version({b"schema_version": str(SCHEMA_VERSION + 1).encode()}, "steps/a.parquet")
    assert refused.value.where == "steps/a.parquet"
    assert "agent-evalkit" in refused.value.hint


@pytest.mark.parametrize("metadata", [None, {}, {b"schema_version": b"one"}])
def test_a_parquet_file_of_someone_else_is_refused(metadata):
    with pytest.raises(ConfigError, match="schema_version"):
        check_version(metadata, "steps/a.parquet")


def test_columns_that_an_older_version_did_not_have_are_null():
    old = pa.table({"trial_id": ["t"], "scorer": ["s"], "value": pa.array([1], pa.int32()), "gone": [1]})
    new = upgraded(old, SCORES)
    assert new.schema == SCORES
    assert new.to_pylist() == [{**dict.fromkeys(SCORES.names), "trial_id": "t", "scorer": "s", "value": 1.0}]
