"""Whatever a trajectory holds, scorers say something that their metrics allow, and raise nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import Trial
from evalkit.measures.spending import Basis
from evalkit.scoring.cohort import Cohort
from evalkit.scoring.facts import TaskFacts
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, ErrorKind, Event, EventName, Prompt, Think
from evalkit.trajectory.trial import StopReason

STRANGE = st.sampled_from(
    [
        "",
        "{",
        "null",
        "[]",
        '{"command": 7}',
        '{"command": null}',
        '{"command": "\\ud800"}',
        '{"command": "cat <<EOF >"}',
        '{"command": "grep \'x"}',
        '{"command": "a && && | ; >"}',
        '{"command": "' + "x" * 30_000 + '"}',
        '{"command": "' + '\\"' * 10_000 + '"}',
        '{"id": ' + "[" * 900 + "]" * 900 + "}",
        "[" * 20_000,
        '{"id": ' + "9" * 5_000 + "}",
        '{"id": NaN}',
        "\ud800",
        "\x00",
    ]
)
TEXTS = st.none() | STRANGE | st.text(max_size=12) | st.sampled_from(["ls", "48213", "Tool bash not found"])
DIGESTS = st.sampled_from([None, "a", "b"])
TIMES = st.sampled_from(
    [
        None,
        *(
            datetime(year, 12, 31, 23, 59, second, tzinfo=UTC)
            for year in (1, 2026, 9999)
            for second in (0, 7)
        ),
    ]
)
SECONDS = st.sampled_from([None, 0.0, 0.5, 1e300])
COUNTS = st.sampled_from([None, 0, 3, 10**15])
DETAILS = (
    st.none()
    | STRANGE
    | st.sampled_from(
        [
            '{"impossible": true}',
            '{"impossible": 1}',
            '{"checks": {"unit": true}}',
            '{"checks": [1], "stage": [], "passed": true}',
            '{"id": "f", "loud": false, "visible": true, "canary": "48213", "retry_after_s": 1e999}',
            '{"id": "f", "kind": "stale", "loud": false, "visible": true, "retry_after_s": -3}',
            '{"id": "f", "visible": true, "retry_after_s": 2}',
            '{"id": 5}',
            '{"of_step": 0, "passed": true, "checks": {"unit": true, "x": false}, "reward": 1}',
            '{"of_step": 1, "passed": false, "checks": {}}',
            '{"of_step": true, "passed": true}',
            '{"of_step": 99, "passed": true}',
            '{"of_step": 0, "passed": true, "reward": 1e999, "checks": {"x": 3}}',
        ]
    )
)
NUMBERS = st.none() | st.integers(0, 12)
ACTS = st.fixed_dictionaries(
    {
        "tool": st.sampled_from([None, "", "bash", "python", "read row", "get_row"]),
        "arguments": TEXTS,
        "arguments_raw": st.none() | TEXTS,
        "observation": TEXTS,
        "exit_code": st.sampled_from([None, 0, 1, -9, 2**40]),
        "error_kind": st.sampled_from([None, *get_args(ErrorKind)]),
        "fault_id": st.sampled_from([None, "f", "g"]),
        "workspace_digest": DIGESTS,
        "think_step": NUMBERS,
        "call_index": NUMBERS,
    }
)
COMMON = st.fixed_dictionaries({"started_at": TIMES, "duration_s": SECONDS, "parent_step": NUMBERS})
THINKS = st.fixed_dictionaries(
    {
        "output_tokens": COUNTS,
        "reasoning_tokens": COUNTS,
        "cost_usd": SECONDS,
        "text": TEXTS,
        "reasoning": TEXTS
        | st.just("wait, hmm, the same again and again, wait, hmm, the same again Ж 漢 α #######"),
        "reasoning_visibility": st.sampled_from([None, "full", "summary"]),
        "finish_reason": st.sampled_from([None, "stop", "length"]),
    }
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just(Act), COMMON, ACTS),
        st.tuples(st.just(Think), COMMON, THINKS),
        st.tuples(
            st.just(Event),
            COMMON,
            st.fixed_dictionaries({"event": st.sampled_from(get_args(EventName)), "detail": DETAILS}),
        ),
        st.tuples(st.just(Prompt), COMMON, st.just({"role": "user", "text": "\ud800"})),
    ),
    max_size=12,
)
ROWS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["passed", "failed"]),
        "stop_reason": st.sampled_from([None, *get_args(StopReason)]),
        "variant": st.sampled_from(["clean", "f", "twin"]),
        "reward": st.sampled_from([None, -3.0, 0.5, 1e300]),
        "checks": st.sampled_from([None, {}, {"unit": False, "x": True}]),
        "answer": TEXTS,
        "confidence": st.sampled_from([None, -1.0, 0.0, 0.3, 70.0]),
        "output_tokens": COUNTS,
        "faults_fired": st.sampled_from([None, 0, 4]),
        "agent_s": SECONDS,
        "effects_measured": st.sampled_from([None, False, True]),
        "model_calls": COUNTS,
        "reasoning_tokens": COUNTS,
        "cost_usd": SECONDS,
        "thinking": st.sampled_from(
            [None, "off", "tokens:2", "tokens:", "tokens:" + "9" * 5000, "effort:high"]
        ),
        "reasoning_visibility": st.sampled_from([None, "full", "none"]),
    }
)
FACTS = TaskFacts(milestones=("unit", "\ud800"), resource_args={"get_row": "id", "bash": "command"})
EFFECTS = st.lists(
    st.builds(
        Effect,
        trial_id=st.just("t"),
        channel=st.sampled_from(["file", "git", "row", "network"]),
        resource=st.sampled_from(["f", "/app/f", "row:", "git:\ud800", "*", ""]),
        change=st.sampled_from(["modified", "deleted", "sent"]),
        class_=st.sampled_from([None, "intended", "collateral", "forbidden"]),
        irreversible=st.sampled_from([None, True]),
        step=st.sampled_from([None, 0, 900]),
        severity=st.sampled_from([None, 0.5, 1e9]),
        after=TEXTS,
    ),
    max_size=2,
).map(tuple)


REFERENCES = st.none() | st.builds(
    TrialReference,
    basis=st.sampled_from(get_args(Basis)),
    cost=st.sampled_from([None, 0.0, 2.0, 1e17]),
    is_unsolved=st.booleans(),
    provisional=st.booleans(),
    digest=st.just("d"),
)


@pytest.mark.parametrize(
    "name",
    [
        "aborting",
        "calibration",
        "consistency",
        "faults",
        "looping",
        "majority",
        "overhead",
        "overthinking",
        "pondering",
        "progressing",
        "recovery",
        "recovery_time",
        "retention",
        "retrying",
        "side_effects",
        "silent_faults",
        "success",
        "tampering",
        "tool_use",
    ],
)
@settings(max_examples=150)
@given(
    steps=STEPS,
    told=ROWS,
    effects=EFFECTS,
    horizon=st.sampled_from([None, 1, 50]),
    limit=st.booleans(),
    reference=REFERENCES,
)
def test_a_scorer_says_only_what_it_declares(
    name, scores, row, steps, told, effects, horizon, limit, reference
):
    numbered = tuple(kind(step=number, **common, **own) for number, (kind, common, own) in enumerate(steps))
    trial = Trial(
        row=row(**told),
        steps=numbered,
        effects=effects,
        task=FACTS if limit else TaskFacts(),
        cohort=Cohort([row(), row(status="failed"), row(**told)]),
        horizon=horizon,
        reference=reference,
        reference_calls=0.0 if limit else 3.0,
        hooks=(lambda act: act.observation == "48213",),
    )
    scores(name, trial)


def test_every_bundled_scorer_is_put_to_the_test(names):
    (mark,) = (m for m in test_a_scorer_says_only_what_it_declares.pytestmark if m.name == "parametrize")
    assert mark.args[1] == names


def test_an_empty_trajectory_has_nothing_to_say_of_what_failed(names, values, row):
    found = {name: values(name, Trial(row=row())) for name in names}
    assert found["retrying"] == dict.fromkeys(found["retrying"], 0)
    assert found["recovery"] == dict.fromkeys(found["recovery"], 0)
    assert found["recovery_time"] == found["silent_faults"] == found["faults"] == found["calibration"] == {}
    assert found["tool_use"] == dict.fromkeys(("tool_calls", "tool_errors", "invalid_calls"), 0)
    assert found["looping"] == dict.fromkeys(("redundant_calls", "loop_score"), 0)
    assert found["pondering"] == {}
    assert found["overthinking"] == {"starved": 0, "solved": 1}
    assert found["progressing"] == {"state_revisits": None}
    assert found["success"] == {"success": 1, "reward": None}
    assert found["aborting"] == {"false_abort": 0}
    assert found["consistency"] == {"outcome_agreement": 1, "path_similarity": 1}
