"""What a fault says has an effect, or is refused: what is given counts, whether it is true or 0."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evalkit.tasks.faults import Fault


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "error_500", "wait_s": 0.0}, "wait_s belongs to timeout, not to error_500"),
        ({"kind": "empty", "retry_after_s": 0.0}, "retry_after_s belongs to rate_limit, not to empty"),
        ({"kind": "permission", "fast": True}, "fast belongs to timeout, not to permission"),
        ({"kind": "timeout", "fast": True, "wait_s": 0.0}, "has both fast and wait_s"),
        ({"kind": "timeout", "times": 1, "until": "true"}, "has both times and until"),
        (
            {"kind": "error_500", "canary": "abcdef"},
            "canary belongs to garbled or schema_drift or wrong_value",
        ),
        ({"kind": "stale", "canary": "abcdef"}, "canary belongs to"),
        ({"kind": "partial", "canary": "abcdef"}, "canary belongs to"),
        ({"kind": "wrong_value", "canary": "abc\ndef"}, "one line of printable characters"),
        ({"kind": "disk_full", "path": "/app/s", "loud": False}, "disk_full is always loud"),
        ({"kind": "timeout", "loud": False}, "timeout is always loud"),
        ({"kind": "stale", "loud": True}, "stale is always silent"),
        ({"kind": "timeout", "when": {"tool": "submit"}}, "submit ends the trial and is never struck"),
        ({"kind": "timeout", "when": {"tool": "report_impossible"}}, "report_impossible ends the trial"),
    ],
)
def test_what_can_have_no_effect_is_refused(fields, why):
    with pytest.raises(ValidationError, match=why):
        Fault.model_validate({"id": "f", **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "timeout", "wait_s": 0.0},
        {"kind": "rate_limit", "retry_after_s": 0.0},
        {"kind": "timeout", "fast": True},
        {"kind": "partial", "loud": True},
        {"kind": "error_500", "loud": True},
        {"kind": "schema_drift", "canary": "Zahl 12"},
    ],
)
def test_what_fits_is_taken_and_a_record_of_it_is_read_back(fields):
    fault = Fault.model_validate({"id": "f", **fields})
    stored = fault.model_dump(mode="json") | {"loud": fault.is_loud}
    assert Fault.model_validate(stored).is_loud is fault.is_loud
