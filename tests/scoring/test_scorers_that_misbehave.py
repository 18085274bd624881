"""Whatever a scorer does, it is told by its name, its line and the trial, and the scores of others are right."""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from evalkit.errors import ConfigError
from evalkit.scoring.frozen import Frozen
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import MOST_FAILURES, score_run
from evalkit.scoring.trial import Trial

FINE = 'yield Score("n", 1, "fine")'


@pytest.fixture
def curved(home):
    """Write a scorer `mine` with the metric m, whose scores a curve of this kind is made of."""

    def write(kind: str, body: str) -> None:
        path = home.scorer("mine", body)
        path.write_text(path.read_text().replace("low=0", f"aggregation='curve', curve='{kind}'"))

    return write


@pytest.mark.parametrize(
    ("kind", "value", "label", "problem"),
    [
        ("survival", 3, "soon", "the label 'soon' says no times, as survival needs"),
        ("survival", 3, "1.2.3", "the label '1.2.3' says no times"),
        ("survival", None, "-1", "the label '-1' says no times"),
        ("survival", 3, None, "the label says no times, as survival needs"),
        ("calibration", 0.5, "yes", "the label 'yes' is neither passed nor failed"),
        ("calibration", 0.5, None, "the label None is neither passed nor failed"),
        ("calibration", 1.5, "passed", "1.5 is no confidence from 0 to 1"),
        ("agreement", 0.5, None, "0.5 is neither 0 nor 1, as agreement needs"),
        ("pass^k", 2, None, "2 is neither 0 nor 1, as pass^k needs"),
        ("pass@k", 2, None, "2 is neither 0 nor 1, as pass@k needs"),
        ("maj@k", 0.1, "a", "0.1 is neither 0 nor 1, as maj@k needs"),
        ("maj@k", 1, None, "the label is no answer"),
        ("similarity", 1, None, "the label is no sequence of words"),
    ],
)
def test_a_score_that_its_curve_cannot_be_made_of_is_told_and_not_stored(
    home, curved, made, finished, rows, kind, value, label, problem
) -> None:
    curved(kind, f'yield Score("m", {value!r}, "r", label={label!r})')
    home.scorer("other", FINE, metric="n")
    run = finished(made("t1"))
    scored = score_run(run, find_scorers(home.project))
    (failure,) = scored.failures
    assert (failure.scorer, failure.trial_id) == ("mine", "t1")
    assert f"m: {problem}" in failure.message
    assert [row["scorer"] for row in rows(run)] == ["other"]


@pytest.mark.parametrize(
    ("kind", "value", "label"),
    [
        ("survival", 3, "2, 5, 30+"),
        ("survival", None, None),
        ("calibration", 0.5, "failed"),
        ("agreement", 1, None),
        ("maj@k", 0, "an answer"),
        ("similarity", 1, ""),
    ],
)
def test_a_score_that_its_curve_can_be_made_of_is_stored(
    home, curved, made, finished, rows, kind, value, label
) -> None:
    curved(kind, f'yield Score("m", {value!r}, "r", label={label!r})')
    run = finished(made())
    assert score_run(run, find_scorers(home.project)).failures == []
    assert [row["label"] for row in rows(run)] == [label]


def test_scores_of_which_another_metrics_curve_is_made_are_checked_for_it(home, made, finished) -> None:
    path = home.scorer("mine", 'yield Score("m", 0.5, "r")')
    more = "Metric(name='all', meaning='x', aggregation='curve', curve='pass^k', of=('m',)), "
    path.write_text(path.read_text().replace("metrics = (", f"metrics = ({more}"))
    (failure,) = score_run(finished(made()), find_scorers(home.project)).failures
    assert "m: 0.5 is neither 0 nor 1, as pass^k needs" in failure.message


def test_what_a_scorer_says_of_an_unscored_trial_does_not_matter_to_its_curve(
    home, curved, made, finished, rows
) -> None:
    curved("calibration", 'yield Score("m", 0.5, "r", label=trial.row.status)')
    run = finished(made(status="unscored"))
    assert score_run(run, find_scorers(home.project)).failures == []
    assert [row["value"] for row in rows(run)] == [None]


@pytest.mark.parametrize(
    ("body", "said", "line"),
    [
        ("pass", "score() gave None: it should yield each evalkit.Score, or return a list of them", 5),
        ("return Score('m', 1, 'r')", "score() gave a single score", 5),
        ("return 3", "score() gave 3", 5),
        ("return [1]", "1 is no evalkit.Score", 5),
        ("x = 1\nyield Score('m', -1, 'r')", "m: -1 is outside of [0, ...]", 7),
        ("yield Score('m', 'x', 'r')", "m: the value is no number: 'x'", 6),
        ("yield Score('m', 10 ** 400, 'r')", "m: the value is too large for a number of 64 bits", 6),
        ("yield Score(['m'], 1, 'r')", "the name of the metric is no text: ['m']", 6),
    ],
)
def test_what_a_scorer_may_not_give_is_told_with_its_own_line(home, made, finished, body, said, line) -> None:
    path = home.scorer("mine", body)
    (failure,) = score_run(finished(made()), find_scorers(home.project)).failures
    assert said in failure.message
    assert failure.place == f"{path}:{line}"


def test_a_failure_in_a_function_of_the_library_is_told_by_the_scorers_line(home, made, finished) -> None:
    path = home.scorer("mine", "import json\njson.loads('{')\nyield 1")
    (failure,) = score_run(finished(made()), find_scorers(home.project)).failures
    assert failure.place == f"{path}:7"


def test_a_score_method_without_a_parameter_is_told_by_its_own_line(home, made, finished) -> None:
    path = home.scorer("mine", "return ()")
    path.write_text(path.read_text().replace("self, trial", "self"))
    (failure,) = score_run(finished(made()), find_scorers(home.project)).failures
    assert failure.place == f"{path}:5"


def test_a_wrong_score_is_told_with_the_step_that_the_scorer_had_in_hand(home, made, finished) -> None:
    home.scorer("mine", "for act in trial.acts:\n    yield Score('m', -1, 'r')")
    (failure,) = score_run(finished(made()), find_scorers(home.project)).failures
    assert failure.step == 2


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("class Odd(BaseException): pass", "Odd"),
        (
            "class Odd(Exception):\n    def __str__(self): raise RuntimeError",
            "Odd, whose message cannot be told (RuntimeError)",
        ),
        ("class Odd(GeneratorExit): pass", "Odd"),
        ("class Odd(SystemExit): pass", "Odd"),
        ("class Odd(StopIteration): pass", "Odd"),
    ],
)
def test_an_odd_exception_is_a_failure_like_any_other(home, made, finished, rows, kind, said) -> None:
    home.scorer("mine", "for act in trial.acts: raise Odd\nreturn ()", head=kind)
    home.scorer("other", FINE, metric="n")
    run = finished(made("t1"))
    (failure,) = score_run(run, find_scorers(home.project)).failures
    assert (failure.scorer, failure.trial_id, failure.step, failure.message) == ("mine", "t1", 2, said)
    assert [row["scorer"] for row in rows(run)] == ["other"]


def test_an_interrupt_inside_a_scorer_is_one(home, made, finished) -> None:
    home.scorer("mine", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        score_run(finished(made()), find_scorers(home.project))


@pytest.mark.parametrize("raised", ["SystemExit(0)", "Odd()", "Silent()"])
def test_a_file_that_raises_anything_while_it_is_loaded_is_named(home, raised) -> None:
    odd = "class Odd(BaseException): pass\n"
    silent = "class Silent(Exception):\n    def __str__(self): raise RuntimeError\n"
    path = home.scorer("mine", "return ()", head=f"{odd}{silent}raise {raised}")
    with pytest.raises(ConfigError, match="this scorer cannot be loaded") as caught:
        find_scorers(home.project)
    assert caught.value.where == f"{path}:5"


def test_failures_that_are_alike_are_told_once_with_their_number_and_the_first_trial(
    home, made, finished
) -> None:
    home.scorer("mine", "raise KeyError(trial.row.trial_id)")
    scored = score_run(finished(made("t1"), made("t2"), made("t3")), find_scorers(home.project))
    assert [(f.trials, f.trial_id, f.message) for f in scored.failures] == [(3, "t1", "KeyError: 't1'")]
    assert (scored.failed, scored.further) == ({"mine": 3}, 0)


def test_failures_beyond_the_first_ways_are_counted(home, made, finished) -> None:
    home.scorer("mine", "raise ValueError('x' * len(trial.row.agent))")
    trials = [made(f"t{number:02}", agent="a" * (number + 1)) for number in range(MOST_FAILURES + 2)]
    scored = score_run(finished(*trials), find_scorers(home.project))
    assert (len(scored.failures), scored.further) == (MOST_FAILURES, 2)


def test_what_a_scorer_prints_goes_to_standard_error(home, made, finished, capsys) -> None:
    home.scorer("mine", "print('scoring')\nyield Score('m', 1, 'r')", head="print('loading')")
    score_run(finished(made()), find_scorers(home.project))
    assert capsys.readouterr() == ("", "loading\nscoring\n")


@pytest.mark.parametrize(
    "change",
    [
        "trial.row.checks.clear()",
        "trial.row.checks['a'] = False",
        "trial.row.checks.update(a=False)",
        "checks = trial.row.checks; checks |= {'a': False}",
        "del trial.row.checks['a']",
        "trial.row.rewards.pop('r')",
        "trial.task.resource_args['row'] = 'name'",
        "trial.task.faults.clear()",
        "trial.cohort.cell('a', 's', 'x').passed += 1",
        "trial.cohort.most_tokens = 0",
        "trial.cohort.longest_s += 1",
        "trial.steps.append(1)",
        "trial.acts[0].exit_code = 7",
        "trial.row.status = 'failed'",
    ],
)
def test_what_scorers_share_cannot_be_changed_by_one_of_them(home, made, finished, rows, change) -> None:
    home.scorer("changing", f"{change}\nreturn ()")
    body = "told = (trial.row, trial.steps, trial.task, trial.cohort.cell('a', 's', 'x'), trial.cohort.most_tokens)\n"
    home.scorer("later", body + 'yield Score("n", 1, repr(told))', metric="n")
    trial = made("t1", task_id="x", checks={"a": True}, rewards={"r": 1.0}, output_tokens=9)
    fault = {"suite": "s", "task": "x", "id": "f", "kind": "empty", "loud": False}
    run = finished(trial, tasks={"s/x": {"resource_args": {"row": "id"}}}, faults=(fault,))
    assert score_run(run, find_scorers(home.project)).failed == {"changing": 1}
    (before,) = rows(run)
    score_run(run, find_scorers(home.project, ["later"]))
    assert [row["reason"] for row in rows(run) if row["scorer"] == "later"] == [before["reason"]]


def test_a_scorer_that_forces_another_id_upon_the_row_is_stored_under_the_right_one(
    home, made, finished, rows
) -> None:
    home.scorer("mine", "object.__setattr__(trial.row, 'trial_id', 'x')\nyield Score('m', 1, 'r')")
    run = finished(made("t1"))
    score_run(run, find_scorers(home.project))
    assert [row["trial_id"] for row in rows(run)] == ["t1"]


def test_a_scorer_that_changes_what_it_declares_is_held_to_what_it_declared(
    home, made, finished, rows
) -> None:
    home.scorer("mine", "type(self).metrics = ()\ntype(self).version = '9'\nyield Score('m', 1, 'r')")
    run = finished(made("t1"), made("t2"))
    score_run(run, find_scorers(home.project))
    assert [(row["metric"], row["scorer_version"]) for row in rows(run)] == [("m", "1"), ("m", "1")]


def test_nothing_that_a_scorer_is_handed_is_of_a_kind_that_can_be_changed(home, made, finished) -> None:
    """Of what is stored in a trial with everything that it may have."""
    seen: list[Trial] = []
    home.scorer("mine", "return ()")
    (named,) = find_scorers(home.project)
    type(named.scorer).score = lambda _, trial: seen.append(trial) or ()
    trial = made(
        "t1", task_id="x", checks={"a": True}, rewards={"r": 1.0}, skills=("debugging",), faults_planned=1
    )
    fault = {"suite": "s", "task": "x", "id": "f", "kind": "empty", "loud": False}
    run = finished(
        trial, tasks={"s/x": {"resource_args": {"row": "id"}, "milestones": ["a"]}}, faults=(fault,)
    )
    score_run(run, [named])
    (handed,) = seen
    assert handed.episodes is not None
    assert {type(value) for value in _within(handed)} <= {str, int, float, bool, type(None), datetime, date}


def _within(value: object) -> Iterator[object]:
    """Everything that is found in a value, but for what can only be looked at."""
    if isinstance(value, tuple | frozenset):
        for part in value:
            yield from _within(part)
    elif isinstance(value, Frozen):
        for pair in value.items():
            yield from _within(pair)
    elif dataclasses.is_dataclass(value) and type(value).__dataclass_params__.frozen:  # type: ignore[attr-defined]
        for part in dataclasses.fields(value):
            yield from _within(getattr(value, part.name))
    elif type(value).__name__ == "Cohort":
        yield from _within(value._cells)  # type: ignore[attr-defined]
    elif not isinstance(value, enum.Enum):
        yield value


def test_a_frozen_mapping_is_copied_as_a_plain_dict() -> None:
    frozen = Frozen({"a": [1]})
    copied = copy.deepcopy(frozen)
    copied["a"].append(2)
    assert (type(copied), copied, frozen) == (dict, {"a": [1, 2]}, {"a": [1]})
    with pytest.raises(TypeError, match="shared by all scorers"):
        frozen["a"] = []


def test_a_row_with_frozen_mappings_can_be_turned_into_dicts(made) -> None:
    row = dataclasses.replace(made(), checks=Frozen({"a": True}))
    assert dataclasses.asdict(row)["checks"] == {"a": True}


def test_a_scorer_that_goes_elsewhere_loses_nothing(home, made, finished, rows, monkeypatch) -> None:
    run = finished(made("t1"))
    monkeypatch.chdir(run.parent)
    home.scorer("mine", f'import os\nos.chdir("/")\n{FINE}', metric="n")
    assert not score_run(Path(run.name), find_scorers(home.project)).failed
    assert [row["value"] for row in rows(run)] == [1]
