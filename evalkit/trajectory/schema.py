# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false
# pyarrow ships no types.
"""Which columns does each table of a run have?"""

from __future__ import annotations

import pyarrow as pa

from evalkit.errors import ConfigError

SCHEMA_VERSION = 1
VERSION_KEY = b"schema_version"

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.string()
_COUNT = pa.int64()
_NUMBER = pa.float64()
_FLAG = pa.bool_()


def _schema(**columns: pa.DataType) -> pa.Schema:
    fields = [(name.removesuffix("_"), kind) for name, kind in columns.items()]
    return pa.schema(fields, metadata={VERSION_KEY: str(SCHEMA_VERSION)})


TRIALS: pa.Schema = _schema(
    run_id=_TEXT,
    trial_id=_TEXT,
    suite=_TEXT,
    suite_digest=_TEXT,
    task_id=_TEXT,
    task_digest=_TEXT,
    variant=_TEXT,
    epoch=_COUNT,
    attempt=_COUNT,
    agent=_TEXT,
    agent_digest=_TEXT,
    skills=pa.list_(_TEXT),
    difficulty=_TEXT,
    agent_loop=_TEXT,
    depth=_TEXT,
    model=_TEXT,
    model_served=_TEXT,
    thinking=_TEXT,
    thinking_taken=_TEXT,
    thinking_sent=_TEXT,
    thinking_honoured=_FLAG,
    tool_settings=_TEXT,
    approvals=_TEXT,
    temperature=_NUMBER,
    seed=_COUNT,
    sandbox=_TEXT,
    sandbox_runtime=_TEXT,
    image_digest=_TEXT,
    host=_TEXT,
    started_at=_TIME,
    finished_at=_TIME,
    queue_s=_NUMBER,
    build_s=_NUMBER,
    start_s=_NUMBER,
    setup_s=_NUMBER,
    agent_s=_NUMBER,
    grade_s=_NUMBER,
    model_s=_NUMBER,
    tool_s=_NUMBER,
    retry_s=_NUMBER,
    status=_TEXT,
    reward=_NUMBER,
    rewards=pa.map_(_TEXT, _NUMBER),
    checks=pa.map_(_TEXT, _FLAG),
    answer=_TEXT,
    confidence=_NUMBER,
    stop_reason=_TEXT,
    error_origin=_TEXT,
    error_type=_TEXT,
    error_message=_TEXT,
    grader_mode=_TEXT,
    grader_digest=_TEXT,
    model_calls=_COUNT,
    tool_calls=_COUNT,
    input_tokens=_COUNT,
    cache_read_tokens=_COUNT,
    cache_write_tokens=_COUNT,
    output_tokens=_COUNT,
    reasoning_tokens=_COUNT,
    reasoning_visibility=_TEXT,
    reasoning_source=_TEXT,
    cost_usd=_NUMBER,
    price_source=_TEXT,
    faults_planned=_COUNT,
    faults_fired=_COUNT,
    effects_measured=_FLAG,
    naive_passed=_FLAG,
    deliverables=_TEXT,
    source=_TEXT,
    source_uri=_TEXT,
    raw_usage=_TEXT,
    replaced_chars=_COUNT,
)

STEPS: pa.Schema = _schema(
    trial_id=_TEXT,
    step=_COUNT,
    kind=_TEXT,
    parent_step=_COUNT,
    started_at=_TIME,
    duration_s=_NUMBER,
    replaced_chars=_COUNT,
    # prompt; `text` is also what a think step said openly
    role=_TEXT,
    text=_TEXT,
    # think
    reasoning=_TEXT,
    reasoning_tokens=_COUNT,
    reasoning_visibility=_TEXT,
    output_tokens=_COUNT,
    input_tokens=_COUNT,
    cache_read_tokens=_COUNT,
    cache_write_tokens=_COUNT,
    cost_usd=_NUMBER,
    finish_reason=_TEXT,
    model_served=_TEXT,
    request_digest=_TEXT,
    retries=_COUNT,
    blocks=_TEXT,
    # act
    think_step=_COUNT,
    call_index=_COUNT,
    tool=_TEXT,
    arguments=_TEXT,
    arguments_raw=_TEXT,
    observation=_TEXT,
    stdout=_TEXT,
    stderr=_TEXT,
    stdout_bytes=_COUNT,
    stderr_bytes=_COUNT,
    stdout_truncated=_FLAG,
    stderr_truncated=_FLAG,
    exit_code=_COUNT,
    error_kind=_TEXT,
    fault_id=_TEXT,
    approval=_TEXT,
    workspace_digest=_TEXT,
    # event
    event=_TEXT,
    detail=_TEXT,
)

EFFECTS: pa.Schema = _schema(
    trial_id=_TEXT,
    step=_COUNT,
    channel=_TEXT,
    resource=_TEXT,
    change=_TEXT,
    before=_TEXT,
    after=_TEXT,
    bytes=_COUNT,
    class_=_TEXT,
    irreversible=_FLAG,
    transient=_FLAG,
    severity=_NUMBER,
    evidence=pa.list_(_COUNT),
)

SCORES: pa.Schema = _schema(
    trial_id=_TEXT,
    scorer=_TEXT,
    scorer_version=_TEXT,
    metric=_TEXT,
    value=_NUMBER,
    label=_TEXT,
    reason=_TEXT,
    evidence=pa.list_(_COUNT),
    scored_at=_TIME,
    reference_digest=_TEXT,
)

SCHEMAS: dict[str, pa.Schema] = {"trials": TRIALS, "steps": STEPS, "effects": EFFECTS, "scores": SCORES}


def check_version(metadata: dict[bytes, bytes] | None, where: str) -> None:
    """Refuse a file of a newer version, and one that is none of ours, with a ConfigError."""
    try:
        version = int((metadata or {})[VERSION_KEY])
    except (KeyError, ValueError) as error:
        raise ConfigError("not a file of an evalkit run: it says no schema_version", where=where) from error
    refuse_newer(version, where)


def refuse_newer(version: int, where: str) -> None:
    """Raise ConfigError for a version that this code does not know."""
    if version > SCHEMA_VERSION:
        raise ConfigError(
            f"written with schema version {version}; this evalkit reads up to {SCHEMA_VERSION}",
            where=where,
            hint="Update it: pip install --upgrade agent-evalkit",
        )


def upgraded(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows under the current schema: columns that an older version did not have are null."""
    if table.schema.equals(schema):
        return table
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
