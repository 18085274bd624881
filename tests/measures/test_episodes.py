"""Recovery: what failed, what was tried again, what was put right."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.action import actions
from evalkit.measures.episode import episodes, recovery_rate
from evalkit.measures.failure_rule import failure_rule
from evalkit.measures.repeating import futile_repeats, is_retry_storm, retries
from evalkit.trajectory.step import Act


def call(number: int, line: str, exit_code: int | None = 0, **more) -> Act:
    """One call of bash."""
    return Act(
        step=number,
        think_step=0,
        call_index=0,
        tool="bash",
        arguments=json.dumps({"command": line}),
        exit_code=exit_code,
        **more,
    )


def of(*lines: tuple[str, int]) -> tuple:
    return episodes(actions([call(number, line, code) for number, (line, code) in enumerate(lines)]))


@pytest.mark.parametrize(
    ("act", "rule"),
    [
        (call(0, "ls", 0), None),
        (call(0, "ls x", 2), "exit_code"),
        (call(0, "grep x f", 1), None),
        (call(0, "cat f | grep x", 1), None),
        (call(0, "grep x f", 2), "exit_code"),
        (call(0, "diff a b", 1), None),
        (call(0, "[ -f x ]", 1), None),
        (call(0, "grep x f && false", 1), "exit_code"),
        (call(0, "sleep 9", None, error_kind="timeout"), "harness"),
        (call(0, "ls", None, error_kind="denied"), "harness"),
        (call(0, "ls", None, error_kind="parsing"), "arguments"),
        (call(0, "ls", 0, fault_id="flaky"), "fault"),
        (call(0, "ls", 0, error_kind="rate_limited"), "signal"),
        (call(0, "ls", None), None),
    ],
)
def test_by_which_rule_an_action_failed(act, rule):
    assert failure_rule(act) == rule


def test_a_silent_fault_is_no_failure():
    assert failure_rule(call(0, "ls", 0, fault_id="stale"), silent_faults=frozenset({"stale"})) is None


def test_an_episode_closes_at_the_first_ok_action_of_its_intent():
    (episode,) = of(
        ("python3 x.py", 1),
        ("cat x.py", 0),
        ("python3 x.py", 1),
        ("python3 x.py --v", 0),
        ("python3 x.py", 0),
    )
    assert (episode.opened_at, episode.closed_at, episode.attempts) == (0, 3, (0, 2, 3))
    assert episode.recovered
    assert not episode.abandoned


def test_reading_a_file_does_not_close_a_failed_attempt_to_run_it():
    (episode,) = of(("python3 x.py", 1), ("cat x.py", 0))
    assert not episode.recovered
    assert episode.abandoned


def test_a_failing_test_is_no_fault():
    assert of(("pytest tests/a.py", 1), ("pytest tests/a.py", 1)) == ()


def test_an_intent_can_go_wrong_again():
    first, second = of(("python3 x.py", 1), ("python3 x.py", 0), ("python3 x.py", 1))
    assert (first.recovered, second.recovered) == (True, False)


def test_the_resource_of_a_function_tool_is_what_its_task_says():
    def read(number, row, kind=None):
        return Act(
            step=number, tool="read_row", arguments=json.dumps({"id": row, "n": number}), error_kind=kind
        )

    steps = [read(0, "a", "unavailable"), read(1, "a")]
    (apart,) = episodes(actions(steps))
    assert not apart.recovered
    (same,) = episodes(actions(steps, resource_args={"read_row": "id"}))
    assert same.recovered


LINES = st.sampled_from(["python3 x.py", "curl http://h/a", "cat f", "pytest t.py", "./go.sh"])
RUNS = st.lists(st.tuples(LINES, st.integers(0, 2)), max_size=30)


@given(RUNS)
def test_the_rate_is_a_share_or_nothing_where_nothing_failed(run):
    rate = recovery_rate(of(*run))
    failed = any(code and "pytest" not in line for line, code in run)
    assert (rate is not None) == failed
    assert rate is None or 0 <= rate <= 1


@given(RUNS)
def test_one_ok_action_for_each_open_episode_recovers_everything(run):
    again = [(line, 0) for line in dict.fromkeys(line for line, _ in run)]
    rate = recovery_rate(of(*run, *again))
    assert rate in {None, 1.0}


@given(RUNS, st.integers(0, 30))
def test_unrelated_ok_actions_change_nothing(run, place):
    where = min(place, len(run))
    more = [*run[:where], ("wc -l elsewhere.txt", 0), *run[where:]]
    assert recovery_rate(of(*more)) == recovery_rate(of(*run))


def only(*calls: Act):
    (episode,) = episodes(actions(calls))
    return episode


def test_the_same_again_with_nothing_changed_is_futile():
    same = [call(number, "python3 x.py", 1, workspace_digest="a") for number in range(3)]
    assert futile_repeats(only(*same)) == (1, 2)


def test_the_same_again_after_a_change_is_not_futile():
    calls = [
        call(0, "python3 x.py", 1, workspace_digest="a"),
        call(1, "python3 x.py", 1, workspace_digest="b"),
    ]
    assert futile_repeats(only(*calls)) == ()


def test_what_nobody_knows_to_be_unchanged_is_not_futile():
    assert futile_repeats(only(call(0, "python3 x.py", 1), call(1, "python3 x.py", 1))) == ()


@given(st.integers(1, 12), st.sampled_from(["timeout", "unavailable", "rate_limited"]))
def test_a_retry_after_a_passing_failure_is_never_futile(times, kind):
    calls = [call(n, "curl http://h/a", 7, error_kind=kind, workspace_digest="a") for n in range(times + 1)]
    episode = only(*calls)
    assert futile_repeats(episode) == ()
    assert len(retries(episode)) == times
    assert is_retry_storm(episode) == (times > 5)


@given(st.lists(st.tuples(LINES, st.integers(0, 2), st.sampled_from([None, "a", "b"])), max_size=20))
def test_a_change_between_equal_failures_makes_the_second_one_not_futile(run):
    calls = [call(n, line, code, workspace_digest=digest) for n, (line, code, digest) in enumerate(run)]
    for episode in episodes(actions(calls)):
        for step in futile_repeats(episode):
            before = max(
                other for other in episode.attempts if other < step and run[other][0] == run[step][0]
            )
            assert run[before][2] == run[step][2] is not None
