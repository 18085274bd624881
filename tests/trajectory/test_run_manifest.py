"""Does run.json say what was asked, and refuse what it cannot understand?"""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evalkit.errors import ConfigError
from evalkit.trajectory.manifest import AgentEntry, PlannedRow, RunManifest, SuiteEntry

FULL = RunManifest(
    run_id="run-1",
    created_at=datetime(2025, 1, 2, tzinfo=UTC),
    suites=(SuiteEntry(name="core", digest="ab" * 32, version="1", source="core"),),
    agents=(
        AgentEntry(id="react/m", digest="cd" * 32, settings={"thinking": "effort:high", "tools": ["bash"]}),
    ),
    epochs=2,
    limits={"steps": 30, "cost_usd": None},
    faults=({"id": "flaky", "when": {"nth": 1}},),
    policy={"approvals": "ask"},
    settings={"sandbox": "local"},
    versions={"evalkit": "0.1.0", "python": "3.11.7"},
    host_class="linux-x86_64-2cpu",
    git_commit="0" * 40,
    seed=7,
    planned=(PlannedRow(suite="core", task_id="a", epoch=1, agent="react/m"),),
)


def test_a_manifest_comes_back_from_its_json():
    assert RunManifest.from_json(FULL.to_json()) == FULL


def test_the_json_says_its_schema_version():
    assert json.loads(FULL.to_json())["schema_version"] == 1


def test_secrets_are_not_written():
    manifest = RunManifest(run_id="r", created_at=FULL.created_at, settings={"api_key": "abc123def456"})
    assert RunManifest.from_json(manifest.to_json()).settings == {"api_key": "[redacted:api_key]"}


def test_keys_of_a_later_addition_are_left_out():
    fields = json.loads(FULL.to_json())
    fields["mood"] = "good"
    fields["suites"][0]["colour"] = "red"
    assert RunManifest.from_json(json.dumps(fields)) == FULL


def test_a_newer_version_is_refused():
    newer = json.dumps({**json.loads(FULL.to_json()), "schema_version": 2})
    with pytest.raises(ConfigError, match="schema version 2") as refused:
        RunManifest.from_json(newer, where="runs/a/run.json")
    assert refused.value.where == "runs/a/run.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ('{"schema_version": 1', "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "schema_version"),
        ('{"schema_version": 1}', "run_id is missing"),
        ('{"schema_version": 1, "run_id": 3}', "run_id"),
        ('{"schema_version": 1, "run_id": "r", "created_at": "yesterday"}', "yesterday"),
        ('{"schema_version": 1, "run_id": "r", "created_at": "2025-01-01T00:00:00"}', "created_at"),
        ('{"schema_version": 1, "run_id": "r", "created_at": "2025-01-01T00:00:00Z", "limits": 3}', "limits"),
        (
            '{"schema_version": 1, "run_id": "r", "created_at": "2025-01-01T00:00:00Z", "epochs": "x"}',
            "epochs",
        ),
        (
            '{"schema_version": 1, "run_id": "r", "created_at": "2025-01-01T00:00:00Z", "planned": [1]}',
            "PlannedRow",
        ),
        (
            '{"schema_version": 1, "run_id": "r", "created_at": "2025-01-01T00:00:00Z", "planned": 5}',
            "iterable",
        ),
    ],
)
def test_what_is_no_manifest_is_refused_in_one_sentence(text, says):
    with pytest.raises(ConfigError, match=says) as refused:
        RunManifest.from_json(text)
    assert "Restore the file" in (refused.value.hint or "")
