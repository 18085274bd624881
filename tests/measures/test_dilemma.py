"""Thinking instead of acting, acting instead of looking, stopping before having looked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.action import actions
from evalkit.measures.dilemma import disengagement, paralysis, rogue_generations
from evalkit.measures.state_changes import changing, effective, tells_changes
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Step, Think


def trial(*generations: tuple[int, list[dict[str, object]]]) -> list[Step]:
    """Generations of so many tokens, each with its calls: `{"line": ..., "exit_code": ...}`."""
    steps: list[Step] = []
    for tokens, calls in generations:
        think = len(steps)
        steps.append(Think(step=think, output_tokens=tokens))
        for index, call in enumerate(calls):
            line = call.pop("line")
            steps.append(
                Act(
                    step=len(steps),
                    think_step=think,
                    call_index=index,
                    tool="bash",
                    arguments=json.dumps({"command": line}),
                    **{"exit_code": 0, **call},
                )
            )
    return steps


def call(line: str, **fields: object) -> dict[str, object]:
    return {"line": line, **fields}


def acts(steps: list[Step]) -> list[Act]:
    return [step for step in steps if isinstance(step, Act)]


def rogue(steps: list[Step]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    found = actions(acts(steps))
    return rogue_generations(steps, found, changing(found))


def ended(steps: list[Step], *effects: Effect) -> str | None:
    found = actions(acts(steps))
    told = disengagement(acts(steps), found, changing(found), effects)
    return None if told is None else told[0]


def test_paralysis_is_the_share_of_tokens_without_a_call():
    found = paralysis(trial((30, []), (20, []), (40, [call("ls")]), (10, [])), "step_limit")
    assert (found.share, found.longest, found.steps) == (0.6, 2, (0, 1, 4))


def test_the_final_answer_is_no_paralysis():
    found = paralysis(trial((60, [call("ls")]), (40, [])), "submitted")
    assert (found.share, found.longest) == (0, 0)


def test_an_agent_that_never_acts_is_paralysed_from_end_to_end():
    found = paralysis(trial((30, []), (20, []), (10, [])), "gave_up")
    assert (found.share, found.longest) == (1, 3)


def test_a_plain_dialogue_is_no_paralysis():
    assert paralysis(trial((30, []), (20, [])), "submitted") is None
    assert paralysis(trial((30, [])), None) is None
    assert paralysis([], "gave_up") is None


def test_paralysis_of_unknown_tokens_still_has_a_streak():
    found = paralysis([Think(step=0), Think(step=1)], "token_limit")
    assert (found.share, found.longest) == (None, 2)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8),
    st.sampled_from(["submitted", "gave_up"]),
)
def test_paralysis_is_bounded(generations, stop):
    found = paralysis(
        trial(*((tokens, [call("ls")] if acting else []) for tokens, acting in generations)), stop
    )
    assert found is None or found.share is None or 0 <= found.share <= 1
    assert found is None or 0 <= found.longest <= len(generations)


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("cd /app && ls && rm a.txt", True),
        ("ls -la; echo 1 > b.txt", True),
        ("cat a.txt; pip install rich", True),
        ("cd /app; cat a.txt | grep x", False),
        ("echo start; pytest -q | tee log.txt", False),
        ("pytest -q; rm a.txt", True),
    ],
)
def test_any_command_of_a_line_may_change_something(line, changes):
    assert bool(changing(actions(acts(trial((1, [call(line)])))))) == changes


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("echo start; cd x && pytest -q", False),
        ("pytest -q; python3 fix.py", True),
        ("black . && pytest", True),
    ],
)
def test_of_a_line_that_does_more_than_test_the_digest_tells(line, changes):
    calls = [call("ls", workspace_digest="a"), call(line, workspace_digest="b")]
    assert bool(changing(actions(acts(trial((1, calls)))))) == changes


@pytest.mark.parametrize(
    ("line", "after"), [("cd x && pytest -q", ()), ("echo a; pytest", ()), ("pytest; python3 x.py", (2,))]
)
def test_a_line_that_ends_in_a_failing_test_is_no_failure(line, after):
    steps = trial((1, [call(line, exit_code=1)]), (1, [call("rm a.txt"), call("rm b.txt")]))
    assert rogue(steps) == (after, after)


def test_two_changes_right_after_a_failure_are_rogue():
    steps = trial(
        (1, [call("python3 x.py", exit_code=1)]),
        (1, [call("sed -i s/a/b/ x.py"), call("rm y.py")]),
        (1, [call("python3 x.py", exit_code=1)]),
        (1, [call("cat x.py"), call("sed -i s/b/c/ x.py")]),
    )
    assert rogue(steps) == ((2,), (2, 7))


def test_where_nothing_failed_nothing_is_rogue():
    assert rogue(trial((1, [call("ls")]), (1, [call("rm a.txt"), call("rm b.txt")]))) == ((), ())


def test_a_failing_test_is_what_was_looked_for():
    steps = trial((1, [call("pytest", exit_code=1)]), (1, [call("rm a.txt"), call("rm b.txt")]))
    assert rogue(steps) == ((), ())


def test_changes_go_by_the_digest_where_it_is_known():
    steps = trial(
        (1, [call("python3 make.py", exit_code=1, workspace_digest="a")]),
        (1, [call("python3 make.py", workspace_digest="b"), call("rm -f nothing", workspace_digest="b")]),
    )
    assert changing(actions(acts(steps))) == {3}


def test_tests_change_nothing_but_caches():
    steps = trial((1, [call("ls", workspace_digest="a"), call("pytest -q", workspace_digest="b")]))
    assert changing(actions(acts(steps))) == frozenset()


def test_a_call_that_did_not_run_changes_nothing():
    steps = trial((1, [call("rm a.txt", error_kind="denied")]))
    assert changing(actions(acts(steps))) == frozenset()


def test_function_tools_without_digests_do_not_tell_what_they_change():
    assert not tells_changes(actions([Act(step=0, tool="book", arguments="{}")]))
    assert tells_changes(actions([Act(step=0, tool="book", arguments="{}", workspace_digest="a")]))


@pytest.mark.parametrize(
    ("after", "word"),
    [
        ([], "unverified"),
        ([call("ls /tmp")], "unverified"),
        ([call("cat /app/out.csv")], "verified"),
        ([call("cat out.csv.bak")], "verified"),
        ([call("cat layout.csv")], "unverified"),
        ([call("pytest -q")], "verified"),
        ([call("pytest -q", exit_code=1)], "verification failed"),
        ([call("pytest -q", exit_code=1), call("cat out.csv")], "verified"),
        ([call("cat out.csv"), call("pytest -q", exit_code=1)], "verification failed"),
        ([call("pytest -q"), call("echo 3 > out.csv")], "unverified"),
        ([call("cd /app && python -m pytest -q; echo done")], "verified"),
        ([call("echo testing; date; timeout 60 pytest -q 2>&1 | tail -5")], "verified"),
        ([call("git status; (cd sub; make test)")], "verified"),
        ([call("bash -c 'cd /app && pytest -q'")], "verified"),
        ([call("pytest -q | tee log.txt")], "verified"),
        ([call("echo a && pytest -q", exit_code=1)], "verification failed"),
        ([call("pytest -q; echo exit=$?", observation="1 failed\nexit=1\n")], "verification failed"),
        ([call("pytest -q; echo exit=$?", observation="2 passed\nexit=0\n")], "verified"),
        ([call("pytest -q; rm out.csv")], "unverified"),
        ([call("cat > run.sh <<'END'\npytest -q\nEND")], "unverified"),
        ([call("echo pytest -q")], "unverified"),
    ],
)
def test_work_is_looked_at_after_the_last_change_or_it_is_not(after, word):
    assert ended(trial((1, [call("echo 2 > /app/out.csv"), *after]))) == word


def test_what_a_program_changed_is_known_by_its_effects():
    effect = Effect(trial_id="t", step=2, channel="file", resource="/app/total.txt", change="created")
    steps = trial(
        (
            1,
            [
                call("ls", workspace_digest="a"),
                call("python3 make.py", workspace_digest="b"),
                call("cat total.txt"),
            ],
        )
    )
    assert ended(steps) == "unverified"
    assert ended(steps, effect) == "verified"


def test_who_changed_nothing_has_nothing_to_look_at():
    assert ended(trial((1, [call("ls")]))) is None


def test_a_call_is_effective_if_it_changes_or_shows_something_new():
    seen = {"workspace_digest": "a", "observation": "x"}
    steps = trial(
        (
            1,
            [
                call("ls", **seen),
                call("ls", **seen),
                call("touch y", **{**seen, "workspace_digest": "b"}),
                call("ls", **{**seen, "workspace_digest": "b", "observation": "y"}),
                call("ls", workspace_digest="b", observation="z", error_kind="timeout"),
            ],
        )
    )
    found = actions(acts(steps))
    assert effective(found, acts(steps), changing(found)) == (1, 3, 4)
