"""Which trials get into a page, and as what."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalkit.report.board import make_board
from evalkit.report.shown_text import MOST, shown
from evalkit.report.trajectories import Trajectories, chosen, write_shards
from evalkit.report.views import trial_views
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.reader import Run
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

Recorded = Callable[..., Run]


def made(trial_id: str, **columns: Any) -> Trial:
    given: dict[str, Any] = {"suite": "s", "task_id": "t", "epoch": 1, "agent": "a", "status": "passed"}
    return Trial(run_id="run-1", trial_id=trial_id, **{**given, **columns})


def score(
    trial_id: str, metric: str, value: float | None, scorer: str = "recovery", **columns: Any
) -> ScoreRow:
    return ScoreRow(
        trial_id=trial_id, scorer=scorer, scorer_version="1", metric=metric, value=value, **columns
    )


def told(text: str) -> tuple[Step, ...]:
    return (Prompt(step=0, role="user", text=text),)


def noise(number: int) -> str:
    """A text that compresses badly."""
    from hashlib import sha512

    return "".join(sha512(f"{number} {part}".encode()).hexdigest() for part in range(40))


def choose(run: Run, **options: Any) -> Trajectories:
    return chosen([("run", run)], read_scored(run), **options)


def opened(trajectories: Trajectories) -> dict[str, Any]:
    return {
        trial["id"]: trial
        for text in trajectories.blocks
        for trial in json.loads(gzip.decompress(base64.b64decode(text)))
    }


def test_a_page_holds_what_fits_and_counts_the_rest(recorded: Recorded) -> None:
    run = recorded(*((made(f"t{n:02}", task_id=f"t{n}"), told(noise(n)), ()) for n in range(40)))

    found = choose(run, most_bytes=50_000)

    assert 30_000 < sum(map(len, found.blocks)) <= 50_000
    assert found.trials == 40
    assert found.left_out == {"passed": 40 - len(opened(found))}
    with_steps = [
        key for key, place in zip(found.index["id"], found.index["shard"], strict=True) if place is not None
    ]
    assert set(with_steps) == set(opened(found))
    assert found.with_steps == len(with_steps)


def test_what_is_urgent_comes_first(recorded: Recorded) -> None:
    trials = [(made(f"t{n:02}", task_id=f"t{n}"), told(noise(n)), ()) for n in range(40)]
    trials[7] = (made("t07", status="failed"), told(noise(7)), ())
    trials[19] = (
        made("t19", task_id="t19"),
        told(noise(19)),
        [score("t19", "tamper_confirmed", 1.0, "integrity")],
    )
    trials[23] = (
        made("t23", task_id="t23", variant="down"),
        told(noise(23)),
        [score("t23", "episodes", 2.0), score("t23", "recovered", 1.0)],
    )
    trials[31] = (made("t31", task_id="t31", status="unscored", error_origin="model"), told(noise(31)), ())
    run = recorded(*trials)

    five = choose(run, most_bytes=24_000)

    assert set(opened(five)) >= {"t07", "t19", "t23", "t31"}
    assert set(five.left_out) == {"passed"}
    assert set(opened(choose(run, most_bytes=5_000))) == {"t19"}


def test_the_same_run_gives_the_same_bytes(recorded: Recorded) -> None:
    run = recorded(*((made(f"t{n:02}", task_id=f"t{n}"), told(noise(n)), ()) for n in range(12)))

    assert choose(run, most_bytes=20_000) == choose(run, most_bytes=20_000)


def test_nothing_that_fits_is_an_empty_page_and_not_an_endless_search(recorded: Recorded) -> None:
    found = choose(recorded((made("t1"), told(noise(1)), ())), most_bytes=100)

    assert found.blocks == ()
    assert found.left_out == {"passed": 1}


def test_a_trial_that_acted_and_has_no_steps_is_told_apart(recorded: Recorded, tmp_path: Path) -> None:
    run = recorded(
        (made("acted", model_calls=2), (), ()),
        (made("idle", task_id="u"), (), ()),
        (made("whole", task_id="v"), told("go"), ()),
    )
    for found in (choose(run), write_shards(tmp_path, [("run", run)], read_scored(run))):
        assert dict(zip(found.index["id"], found.index["lost"], strict=True)) == {
            "acted": True,
            "idle": False,
            "whole": False,
        }
        assert (found.trials, found.with_steps, found.lost) == (3, 2, 1)
        assert "2 are here with every step; of 1 the steps are missing in the record." in str(
            trial_views(found)[0].body
        )
    assert {key: trial["lost"] for key, trial in opened(choose(run)).items()}["acted"] is True


def test_a_board_and_the_list_of_trials_name_agents_and_tasks_alike(recorded: Recorded) -> None:
    """However long they are and whatever is in them: a link from one finds what it names in the other."""
    odd = ["\u202e" * 400, "x" * 900, "a\tb\nc", "\x1b[0m", "plain"]
    run = recorded(*((made(f"t{n}", agent=name, task_id=name), told("go"), ()) for n, name in enumerate(odd)))
    board = make_board([("run", run)], [read_scored(run)], {})
    index = chosen(board.runs, board.scored).index
    assert {row.entrant.name for row in board.rows} == set(index["entrant"])
    assert set(board.tasks) == set(zip(index["suite"], index["task"], strict=True))


def test_a_folder_holds_every_trial_in_files_that_only_hand_over_base64(
    recorded: Recorded, tmp_path: Path
) -> None:
    run = recorded(*((made(f"t{n:03}", task_id=f"t{n}"), told(noise(n) * 40), ()) for n in range(200)))

    found = write_shards(tmp_path, [("run", run)], read_scored(run))

    files = sorted((tmp_path / "trials").iterdir())
    assert len(files) > 1
    held: dict[str, int] = {}
    for number, path in enumerate(files):
        match = re.fullmatch(rf'evalkit\.shard\({number}, "([A-Za-z0-9+/=]+)"\);\n', path.read_text())
        assert match is not None
        assert path.name == f"{number:04}.js"
        for trial in json.loads(gzip.decompress(base64.b64decode(match[1]))):
            held[trial["id"]] = number
    assert held == dict(zip(found.index["id"], found.index["shard"], strict=True))
    assert len(held) == 200
    assert found.left_out == {}


def test_a_smaller_report_leaves_no_shards_of_a_larger_one(recorded: Recorded, tmp_path: Path) -> None:
    run = recorded((made("t1"), told("go"), ()))
    (tmp_path / "trials").mkdir()
    for name in ("0000.js", "0007.js", "mine.js"):
        (tmp_path / "trials" / name).write_text("old")

    write_shards(tmp_path, [("run", run)], read_scored(run))

    assert sorted(path.name for path in (tmp_path / "trials").iterdir()) == ["0000.js", "mine.js"]


def test_the_same_id_in_two_runs_is_two_trials(recorded: Recorded) -> None:
    from evalkit.scoring.joined import joined

    first = recorded((made("t1"), told("one"), ()), name="first")
    second = recorded((made("t1"), told("two"), ()), name="second")
    runs = [("first", first), ("second", second)]

    found = chosen(runs, joined([read_scored(first), read_scored(second)]))

    texts = {key: trial["steps"]["text"] for key, trial in opened(found).items()}
    assert texts == {"t1 (first)": ["one"], "t1 (second)": ["two"]}


def test_scores_in_any_order_reach_their_trials(recorded: Recorded) -> None:
    run = recorded(
        (made("t1"), told("one"), [score("t2", "m", 2.0), score("t1", "m", 1.0, evidence=(0,), reason="r")]),
        (made("t2", task_id="u"), told("two"), [score("t2", "n", None)]),
    )

    trials = opened(choose(run))

    assert trials["t1"]["scores"] == {
        "scorer": ["recovery"],
        "metric": ["m"],
        "value": [1.0],
        "label": [None],
        "reason": ["r"],
        "evidence": [[0]],
    }
    assert dict(zip(trials["t2"]["scores"]["metric"], trials["t2"]["scores"]["value"], strict=True)) == {
        "m": 2.0,
        "n": None,
    }


def test_faults_and_episodes_are_lanes_that_name_their_steps(recorded: Recorded) -> None:
    def cat(step: int, exit_code: int, **columns: Any) -> Act:
        return Act(step=step, tool="bash", arguments='{"command":"cat a"}', exit_code=exit_code, **columns)

    detail = '{"id":"down","kind":"error_500","loud":true,"visible":true}'
    steps = (
        Think(step=0, output_tokens=5),
        cat(1, 1, fault_id="down"),
        Event(step=2, parent_step=1, event="fault", detail=detail),
        cat(3, 1),
        cat(4, 0),
    )

    (trial,) = opened(choose(recorded((made("t1", variant="down"), steps, ())))).values()

    faults, episodes = trial["lanes"]
    assert faults["marks"] == [
        {"step": 1, "label": "fault down: error_500, loud, seen by the agent", "kind": "loud"}
    ]
    assert [(s["from"], s["to"], s["kind"], s["steps"]) for s in episodes["spans"]] == [
        (1, 4, "recovered", [1, 3, 4])
    ]


def test_a_wrong_value_is_followed_to_where_it_is_used(recorded: Recorded) -> None:
    def call(step: int, command: str, **columns: Any) -> Act:
        return Act(step=step, tool="bash", arguments=json.dumps({"command": command}), exit_code=0, **columns)

    detail = '{"id":"typo","kind":"wrong_value","loud":false,"visible":true,"canary":"48213"}'
    steps = (
        call(0, "cat prices", fault_id="typo", observation="48213"),
        Event(step=1, parent_step=0, event="fault", detail=detail),
        call(2, "echo 48213 > sum"),
    )

    (trial,) = opened(choose(recorded((made("t1", variant="typo"), steps, ())))).values()

    lane = next(lane for lane in trial["lanes"] if lane["name"] == "wrong_values")
    assert lane["marks"] == [{"step": 2, "label": "uses the wrong value of fault typo", "kind": "believed"}]


def test_columns_are_as_long_as_there_are_steps_and_unknown_is_null(recorded: Recorded) -> None:
    steps = (Prompt(step=0, role="user", text="go"), Think(step=1, output_tokens=7, reasoning_tokens=0))

    (trial,) = opened(choose(recorded((made("t1"), steps, ())))).values()

    assert trial["steps"] == {
        "step": [0, 1],
        "kind": ["prompt", "think"],
        "role": ["user", None],
        "text": ["go", None],
        "output": [None, 7],
        "thinking": [None, 0],
    }


def test_a_long_text_says_how_much_of_it_is_left_out() -> None:
    text = shown("a" * 2_000_000 + "end")

    assert isinstance(text, list)
    beginning, left_out, end = text
    assert len(str(beginning)) + len(str(end)) == MOST
    assert left_out == 2_000_003 - MOST
    assert str(end).endswith("aend")
    assert shown("a" * MOST) == "a" * MOST


def test_what_steers_or_cannot_be_seen_is_shown_as_escapes() -> None:
    assert (
        shown("a\x1b[31m\x00\u202eb\u200b\U000e0041\r\nc\td")
        == "a\\x1b[31m\\x00\\u202eb\\u200b\\U000e0041\nc\td"
    )
    assert shown("שלום 👩‍💻 é") == "שלום 👩‍💻 é"
