"""`evalkit compare`, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.trajectory.trial import Trial

HEAVY = ("inspect_ai", "litellm", "docker", "pandas", "scipy.stats")
Attempts = tuple[tuple[Trial, dict[str, object]], ...]


@pytest.fixture
def tries() -> Callable[..., Attempts]:
    """One epoch at each task: `tries("++-?", agent="a")`, passed, failed or unscored at t0, t1, ...; its scores too."""

    def make(
        outcomes: str, *, agent: str = "react/m", scores: dict[str, object] | None = None, **more: Any
    ) -> Attempts:
        statuses = {"+": "passed", "-": "failed", "?": "unscored"}
        values = {"+": 1.0, "-": 0.0, "?": None}
        return tuple(
            (
                Trial(
                    run_id="run-1",
                    trial_id=f"t{i}.{agent.replace('/', '-')}.{more.get('variant', 'clean')}",
                    task_id=f"t{i}",
                    epoch=1,
                    agent=agent,
                    status=statuses[outcome],
                    **{"suite": "s", "task_digest": f"d{i}", **more},
                ),
                {"success": values[outcome], **(scores or {})},
            )
            for i, outcome in enumerate(outcomes)
        )

    return make


@pytest.fixture
def two(scored_run, tries) -> tuple[str, str]:
    """Eight tasks; B passes six more than A, which passes two."""
    a = scored_run(*tries("++------", model="m1"), name="a")
    b = scored_run(*tries("++++++++", model="m2"), name="b")
    return str(a), str(b)


def words(text: str) -> str:
    """The text, however its lines are broken."""
    return " ".join(text.split())


def compared(command, *args: str) -> dict[str, Any]:
    said = command("compare", *args, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def test_words_before_the_table_say_what_was_compared_and_what_differs(command, two):
    said = command("compare", *two)
    assert said.code == 0, said.err
    before = words(said.out.partition("metric ")[0])
    assert before.startswith(
        f"Compared A, react/m of {two[0]}, with B, react/m of {two[1]}, on 8 tasks that both tried (8 and 8 trials). "
        "What differs: model m1 -> m2 "
        "These tasks tell A and B apart in 3 of 3 numbers: B is better at: success, pass^1, pass@1 "
        "Of 3 comparisons, about 0.15 would look like that by chance alone."
    )


def test_what_tasks_cannot_tell_apart_is_said_so(command, scored_run, tries):
    a, b = (str(scored_run(*tries(own), name=name)) for name, own in (("a", "++---"), ("b", "+-+--")))
    said = words(command("compare", a, b, "--metric", "success").out)
    assert "These tasks tell A and B apart in none of 1 numbers." in said
    one, other = (str(scored_run(*tries("+"), name=name)) for name in ("one", "other"))
    assert "too few, or too alike, to tell A and B apart" in words(command("compare", one, other).out)


def test_a_row_has_both_numbers_the_difference_its_interval_p_and_tasks(command, two):
    lines = [line.split() for line in command("compare", *two).out.splitlines()]
    (row,) = (line for line in lines if line[:1] == ["success"])
    assert row == ["success", "↑", "0.25", "1.00", "+0.750", "[+0.058,", "+0.968]", "8", "6/0/2", "0.031"]


def test_json_has_everything_unrounded(command, two):
    (pair,) = compared(command, *two)["comparisons"]
    (arm,) = pair["arms"]
    found = arm["metrics"]["success"]
    assert (found["a"], found["b"], found["difference"], found["p"]) == (0.25, 1, 0.75, 2 / 64)
    assert (found["n"], found["higher"], found["lower"], found["equal"]) == (8, 6, 0, 2)
    assert found["better"] == "higher"
    assert pair["differs"] == {"model": {"a": "m1", "b": "m2"}}


def test_a_run_and_itself_do_not_differ(command, two):
    a, _ = two
    said = command("compare", a, a)
    assert "They are the same trials, so every difference is 0." in words(said.out)
    assert "metric " not in said.out
    assert f"evalkit compare {a} --agent ONE --agent OTHER" in said.out
    metrics = compared(command, a, a)["comparisons"][0]["arms"][0]["metrics"]
    assert {found["difference"] for found in metrics.values()} == {0}


def test_the_same_runs_give_the_same_bytes(command, two):
    assert command("compare", *two, "--json").out == command("compare", *two, "--json").out


def test_two_agents_of_one_run(command, scored_run, tries):
    run = str(scored_run(*tries("++", agent="a"), *tries("--", agent="b")))
    said = command("compare", run, "--agent", "a", "--agent", "b", "--metric", "success")
    assert said.code == 0, said.err
    assert f"Compared A, a of {run}, with B, b of {run}, on 2 tasks" in words(said.out)
    assert "pass^1" not in said.out
    alone = command("compare", run)
    assert alone.code == 2
    assert "--agent ONE --agent OTHER" in alone.err


def test_agents_of_one_run_only_are_named(command, scored_run, tries):
    a = scored_run(*tries("+", agent="x"), *tries("+", agent="old"), name="a")
    b = scored_run(*tries("+", agent="x"), *tries("+", agent="new"), name="b")
    result = compared(command, str(a), str(b))
    assert (result["only_a"], result["only_b"]) == (["old"], ["new"])
    assert "Not compared, as only A has them: old" in command("compare", str(a), str(b)).out
    mapped = compared(command, str(a), str(b), "--map", "old=new")
    assert [(pair["a"], pair["b"]) for pair in mapped["comparisons"]] == [("old", "new"), ("x", "x")]


def test_runs_with_nothing_in_common_exit_with_5_and_say_why(command, scored_run, tries):
    a = scored_run(*tries("+"), name="a")
    for name, own, why in (
        ("b", tries("+", suite="z"), "no task in common"),
        ("c", tries("+", task_digest="changed"), "their digests differ"),
        ("d", (*tries("+", agent="u"), *tries("+", agent="v")), "no agent is in both"),
    ):
        said = command("compare", str(a), str(scored_run(*own, name=name)))
        assert said.code == 5
        assert why in said.err


def test_tasks_that_are_left_out_are_named(command, scored_run, tries):
    a = scored_run(*tries("+++"), name="a")
    b = scored_run(*tries("++", suite_digest="new"), name="b")
    said = command("compare", str(a), str(b))
    assert "Left out, as only A tried it: s/t2 (1)" in said.out
    assert "The suite has changed in between: s." in said.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--metric", "sucess"), "Did you mean success"),
        (("--by", "skil"), "Did you mean skill"),
        (("--agent", "react/n"), "Did you mean react/m"),
        (("--map", "react/m"), "--map A_ID=B_ID"),
        (("--agent", "a", "--agent", "b", "--agent", "c"), "at most two agents"),
    ],
)
def test_a_mistake_is_one_clear_error_and_exit_2(command, two, args, message):
    said = command("compare", *two, *args)
    assert said.code == 2
    assert message in said.err


def test_groups_have_tables_of_their_own(command, scored_run, tries):
    a = scored_run(*tries("+-", difficulty="hard"), name="a")
    b = scored_run(*tries("++", difficulty="hard"), name="b")
    said = command("compare", str(a), str(b), "--by", "difficulty")
    assert "\nhard: 2 tasks\n" in said.out


def test_arms_have_tables_of_their_own(command, scored_run, tries):
    a = scored_run(*tries("++"), *tries("--", variant="slow"), name="a")
    b = scored_run(*tries("++"), *tries("++", variant="slow"), name="b")
    said = command("compare", str(a), str(b))
    assert "\nclean arm: 2 tasks\n" in said.out
    assert "\nfaulted arm: 2 tasks under faults\n" in said.out
    assert "success (faulted) higher in B" not in said.out  # two tasks are too few to tell


def test_unscored_trials_are_counted(command, scored_run, tries):
    a, b = scored_run(*tries("+?"), name="a"), scored_run(*tries("++"), name="b")
    said = command("compare", str(a), str(b))
    assert "Unscored trials count nowhere: 1 of A, 0 of B" in said.out
    assert compared(command, str(a), str(b))["comparisons"][0]["arms"][0]["metrics"]["success"]["n"] == 1


def test_runs_without_scores_are_compared_by_the_graders_word(command, scored_run, tries):
    a = scored_run(*((trial, {}) for trial, _ in tries("+-")), name="a")
    b = scored_run(*tries("++"), name="b")
    said = command("compare", str(a), str(b))
    assert f"{a} has no scores. More than this: evalkit score {a}" in said.out
    assert list(compared(command, str(a), str(b))["comparisons"][0]["arms"][0]["metrics"]) == ["pass^1"]


def test_scores_of_a_scorer_that_is_gone_are_marked(command, scored_run, tries):
    a, b = (scored_run(*tries("++", scores={"m": 1.0}), scorer="gone", name=name) for name in "ab")
    said = command("compare", str(a), str(b))
    assert "m *" in said.out
    assert "* plain means" in said.out


def test_a_table_fits_100_columns(command, scored_run, tries):
    long = "expected_calibration_error_of_all"
    a, b = (scored_run(*tries("++-", scores={long: 123456.0}), name=name) for name in "ab")
    lines = command("compare", str(a), str(b)).out.splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("metric")) :]
    assert max(len(line) for line in table if not line.startswith("In brackets")) <= 105
    assert any("expected_calibration" in line and "123,456" in line for line in table)


def test_names_from_a_run_are_text_and_no_markup(command, scored_run, tries):
    hostile = tries("+", agent="[red]\x1b[31m\n", scores={"[bold]m": 1.0, "two\nlines": 1.0})
    a, b = scored_run(*hostile, name="a"), scored_run(*hostile, name="b")
    said = command("compare", str(a), str(b))
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "[bold]m *" in said.out
    assert any(line.startswith("two\\x0alines *") for line in said.out.splitlines())


def test_a_metric_of_one_run_only_says_which_run_to_score(command, scored_run, tries):
    a = str(scored_run(*tries("++", scores={"reward": 1.0}), name="a"))
    b = str(scored_run(*tries("++"), name="b"))
    said = command("compare", a, b, "--metric", "reward")
    assert said.code == 2
    assert f"only A has scores of 'reward'\n  evalkit score {b}" in said.err


def test_a_missing_value_is_a_dash_with_its_reason(command, scored_run, tries):
    a = str(scored_run(*tries("++", scores={"reward": None}), name="a"))
    b = str(scored_run(*tries("??", scores={"reward": None}), name="b"))
    said = words(command("compare", a, b).out)
    assert "Not shown where neither has a value (--metric NAME says why): success, reward" in said
    asked = command("compare", a, b, "--metric", "reward").out
    assert [line.split() for line in asked.splitlines() if line.startswith("reward")] == [
        ["reward", "↑", "-", "-", "-", "0", "-", "-"]
    ]
    assert "all trials of B are unscored: reward" in words(asked)
    (arm,) = compared(command, a, b)["comparisons"][0]["arms"]
    assert arm["metrics"]["reward"]["why_null"] == "all trials of B are unscored"


def test_words_tell_better_worse_and_merely_different_apart(command, scored_run, tries):
    def run(name: str, success: str, reward: float, extra: float) -> str:
        scores = [{"reward": reward * (1 + i / 100), "extra": extra * (1 + i / 100)} for i in range(8)]
        own = ((trial, {**told, **scores[i]}) for i, (trial, told) in enumerate(tries(success)))
        return str(scored_run(*own, name=name))

    said = words(command("compare", run("a", "-" * 8, 5.0, 1.0), run("b", "+" * 8, 4.0, 2.0)).out)
    assert "B is better at: success" in said
    assert "B is worse at: reward" in said
    assert "B is higher in: extra" in said


def test_comparing_brings_nothing_heavy_with_it(two):
    code = f"""
import sys
sys.argv = ["evalkit", "compare", *{two!r}]
from evalkit.cli.app import command_line
from evalkit.cli.interrupt import Interrupts
command_line(Interrupts())
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
