"""What a reader sees of trials, in a real browser, from disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.report.trajectories import chosen, write_shards
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.reader import Run
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

LONG = "\n".join(f"line {number}" for number in range(300))
STEPS: tuple[Step, ...] = (
    Prompt(step=0, role="user", text="Read the file."),
    Think(step=1, reasoning="cat will do", text="I read it.", output_tokens=40, reasoning_tokens=30),
    Act(step=2, think_step=1, tool="bash", arguments='{"command":"cat a"}', observation="no", exit_code=1),
    Event(step=3, parent_step=2, event="fault", detail='{"id":"down","kind":"error_500","visible":true}'),
    Think(step=4, output_tokens=20, reasoning_tokens=0),
    Act(step=5, think_step=4, tool="bash", arguments='{"command":"cat a"}', observation=LONG, exit_code=0),
    Act(step=6, tool="bash", arguments='{"command":"cat b"}', observation="no b", error_kind="timeout"),
    Event(step=7, event="submit", detail='{"answer":"done"}'),
)


def made(trial_id: str, **columns: Any) -> Trial:
    given: dict[str, Any] = {"suite": "s", "task_id": "t", "epoch": 1, "agent": "a", "status": "passed"}
    return Trial(run_id="run-1", trial_id=trial_id, **{**given, **columns})


def score(trial_id: str, metric: str, value: float | None, **columns: Any) -> ScoreRow:
    return ScoreRow(
        trial_id=trial_id,
        scorer="x",
        scorer_version="1",
        metric=metric,
        value=value,
        scored_at=None,
        **columns,
    )


@pytest.fixture
def run(recorded: Callable[..., Run]) -> Run:
    failed = made("t1", variant="down", status="failed", reward=0.5, checks={"rows": True, "values": False})
    scores = [
        score("t1", "errors", 2.0, reason="two calls failed", evidence=(2, 6, 99)),
        score("t1", "none", None),
    ]
    return recorded(
        (failed, STEPS, scores),
        (made("t2", task_id="u"), STEPS[:2], ()),
        (made("t3", agent="b"), STEPS[:2], ()),
    )


@pytest.fixture
def trial(run: Run, written_page: Any, opened: Any) -> Any:
    """The page of `run`, at its first trial."""
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trial&trial=t1")
    page.page.wait_for_selector(".trial")
    yield page
    assert page.said == []
    assert page.violations() == []
    assert [url.partition("#")[0] for url in page.requests] == [page.page.url.partition("#")[0]]


def texts(page: Any, selector: str) -> list[str]:
    return page.page.locator(selector).all_inner_texts()


def step(page: Any, number: int) -> Any:
    return page.page.locator(f'.step[data-step="{number}"]')


def test_every_step_is_there_with_what_it_did(trial: Any) -> None:
    assert trial.page.locator(".step").count() == len(STEPS)
    assert "cat will do" in step(trial, 1).inner_text()
    assert "40 tokens, 30 thinking" in step(trial, 1).inner_text()
    assert step(trial, 1).locator(".amount.thinking.w-15").count() == 1
    assert step(trial, 1).locator(".amount.said.w-5").count() == 1
    assert "exit 1" in step(trial, 2).inner_text()
    assert "fault down: error_500, loud, seen by the agent" in step(trial, 2).inner_text()
    assert "exit 0" in step(trial, 5).inner_text()
    assert "timeout" in step(trial, 6).inner_text()


def test_token_bars_are_stacked_from_the_left(trial: Any) -> None:
    track, thinking, said = (
        step(trial, 1).locator(where).bounding_box()
        for where in (".track", ".amount.thinking", ".amount.said")
    )
    assert thinking["x"] == pytest.approx(track["x"], abs=0.5)
    assert said["x"] == pytest.approx(thinking["x"] + thinking["width"], abs=0.5)
    assert thinking["width"] == pytest.approx(0.75 * track["width"], abs=0.5)
    assert said["width"] == pytest.approx(0.25 * track["width"], abs=0.5)


def test_the_grader_is_heard_check_by_check(trial: Any) -> None:
    assert texts(trial, ".checks li") == ["ok rows", "not ok values"]
    assert "reward 0.5" in trial.page.inner_text(".trial")


def test_a_failure_episode_links_where_it_began_and_ended(trial: Any) -> None:
    opening, closing = step(trial, 2), step(trial, 5)

    assert "put right at step 5" in opening.inner_text()
    opening.get_by_text("step 5").click()

    assert "current" in closing.get_attribute("class")
    assert trial.page.evaluate("location.hash") == "#view=trial&trial=t1&step=5"
    closing.locator(".step-note a").click()
    assert "current" in opening.get_attribute("class")
    assert "never tried again" in step(trial, 6).inner_text()


def test_lanes_show_faults_and_episodes(trial: Any) -> None:
    assert texts(trial, ".lane > span") == ["Output tokens", "Steps", "Faults", "Failure episodes"]
    assert trial.page.locator(".lane.own rect.loud").count() == 1
    assert trial.page.locator(".lane.own rect.recovered").count() == 1
    trial.page.locator(".lane.own rect.abandoned").click()
    assert "current" in step(trial, 6).get_attribute("class")


def test_long_texts_fold_and_open(trial: Any) -> None:
    fold = step(trial, 5).locator("details")

    assert "result, 300 lines" in fold.inner_text()
    assert "line 299" not in step(trial, 5).inner_text()
    fold.locator("summary").click()
    assert "line 299" in step(trial, 5).inner_text()


def test_scores_link_to_their_evidence(trial: Any) -> None:
    trial.page.locator("details.scores summary").click()
    row = trial.page.locator("details.scores tbody tr")

    assert row.inner_text().split("\t") == ["x", "errors", "2", "two calls failed", "2, 6, 99"]
    assert row.locator("a").all_inner_texts() == ["2", "6"]
    row.locator("a").nth(1).click()
    assert "current" in step(trial, 6).get_attribute("class")


def test_a_search_keeps_the_steps_with_hits_and_marks_them(trial: Any) -> None:
    box = trial.page.locator("input[type=search]")
    box.fill("LINE 29")

    assert trial.page.locator(".step:visible").count() == 1
    assert texts(trial, ".step mark") == ["line 29"] * 11
    assert "11 hits" in trial.page.inner_text(".trial-search")
    box.press("Enter")
    assert "1 of 11 hits" in trial.page.inner_text(".trial-search")
    trial.page.locator("input[type=checkbox]").uncheck()
    assert trial.page.locator(".step:visible").count() == len(STEPS)
    box.fill("")
    assert trial.page.locator("mark").count() == 0
    assert trial.page.locator(".step:visible").count() == len(STEPS)
    box.fill("a.*(")
    assert trial.page.locator("mark").count() == 0


def test_keys_go_from_step_to_step_and_to_the_search(trial: Any) -> None:
    keyboard = trial.page.keyboard
    for key in "jjjk":
        keyboard.press(key)

    assert "current" in step(trial, 1).get_attribute("class")
    assert trial.page.evaluate("document.activeElement.dataset.step") == "1"
    keyboard.press("/")
    keyboard.type("jk")
    assert trial.page.input_value("input[type=search]") == "jk"


def test_a_link_opens_a_trial_at_a_step(run: Run, written_page: Any, opened: Any) -> None:
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trial&trial=t1&step=6")

    assert "current" in step(page, 6).get_attribute("class")
    page.go("#view=trial&trial=t1&step=2")
    assert "current" in step(page, 2).get_attribute("class")
    page.go("#view=trial&trial=t2")
    assert "t2" in page.page.inner_text("h3")
    page.go("#view=trial&trial=nowhere")
    assert "There is no trial nowhere" in page.page.inner_text("#one")


def test_the_list_filters_and_its_links_open_trials(run: Run, written_page: Any, opened: Any) -> None:
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trials&agent=a")

    assert texts(page, "#list tbody a") == ["t1", "t2"]
    page.page.get_by_label("Status").select_option("failed")
    assert texts(page, "#list tbody a") == ["t1"]
    assert "1 trial of 3" in page.page.inner_text("#list")
    assert page.page.evaluate("location.hash") == "#view=trials&agent=a&status=failed"
    page.page.get_by_role("link", name="t1").click()
    page.page.wait_for_selector(".trial")
    page.page.go_back()
    page.page.wait_for_selector("#list:visible")
    assert texts(page, "#list tbody a") == ["t1"]


def test_a_trial_that_was_left_out_says_how_to_see_it(run: Run, written_page: Any, opened: Any) -> None:
    found = chosen([("my 'run", run)], read_scored(run), most_bytes=1800)
    page = opened(written_page(found), "#view=trial&trial=t2")

    assert "are not in this file" in page.page.inner_text("#one")
    assert page.page.inner_text("#one pre") == "evalkit show 'my '\\''run' t2"


def test_a_folder_loads_its_shards_when_they_are_needed(
    run: Run, written_page: Any, opened: Any, tmp_path: Path
) -> None:
    page = opened(written_page(write_shards(tmp_path, [("run", run)], read_scored(run))), "#view=trials")
    assert len(page.requests) == 1

    page.go("#view=trial&trial=t1")
    assert page.page.locator(".step").count() == len(STEPS)
    page.go("#view=trial&trial=t2")

    assert [Path(url).name for url in page.requests[1:]] == ["0000.js"]
    assert page.violations() == []
    assert page.said == []


def test_a_shard_that_is_gone_is_said(run: Run, written_page: Any, opened: Any, tmp_path: Path) -> None:
    path = written_page(write_shards(tmp_path, [("run", run)], read_scored(run)))
    (tmp_path / "trials" / "0000.js").unlink()

    page = opened(path, "#view=trial&trial=t1")

    assert "trials/0000.js is not next to this page" in page.page.inner_text("#one")


@pytest.mark.parametrize("text", ["garbage(", "", "evalkit.shard(7, 'AAAA');", "evalkit.shard(0, '%%%');"])
def test_a_shard_that_is_damaged_is_said(
    run: Run, written_page: Any, opened: Any, tmp_path: Path, text: str
) -> None:
    path = written_page(write_shards(tmp_path, [("run", run)], read_scored(run)))
    (tmp_path / "trials" / "0000.js").write_text(text)

    page = opened(path, "#view=trial&trial=t1")

    assert "The steps of t1 cannot be opened: " in page.page.inner_text("#one [role=alert]")
    assert "damaged" in page.page.inner_text("#one")
    assert "Make the report again" in page.page.inner_text("#one")


def test_a_shard_of_another_report_is_said(
    run: Run, recorded: Any, written_page: Any, opened: Any, tmp_path: Path
) -> None:
    other = recorded((made("t9"), STEPS[:2], ()), name="other")
    path = written_page(write_shards(tmp_path, [("run", run)], read_scored(run)))
    write_shards(tmp_path, [("run", other)], read_scored(other))

    page = opened(path, "#view=trial&trial=t1")

    assert "which are of another report" in page.page.inner_text("#one [role=alert]")


def test_a_trial_without_steps_says_so(recorded: Any, written_page: Any, opened: Any) -> None:
    run = recorded((made("t1"), (), ()))
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trial&trial=t1")

    assert "holds no step of this trial" in page.page.inner_text(".trial")
    assert page.page.locator(".trial-search").count() == 0
    page.page.keyboard.press("/")
    assert page.said == []


def test_no_column_of_scores_is_cut_off(recorded: Any, written_page: Any, opened: Any) -> None:
    label = "read_file > " * 30
    rows = [score("t1", "similarity", 0.5, label=label, reason="calls are alike", evidence=tuple(range(8)))]
    run = recorded((made("t1"), STEPS, rows))
    page = opened(
        written_page(chosen([("run", run)], read_scored(run))),
        "#view=trial&trial=t1",
        viewport={"width": 1400, "height": 900},
    )
    page.page.locator("details.scores summary").click()

    box = page.page.locator("details.scores .table-scroll")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.page.locator("details.scores .evidence a").last.is_visible()


def test_a_long_list_goes_on_and_is_told_to_be_empty(recorded: Any, written_page: Any, opened: Any) -> None:
    run = recorded(*((made(f"t{number:03}", epoch=number + 1), (), ()) for number in range(431)))
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trials")
    more = page.page.get_by_role("button", name="more")

    for shown, words in ((200, "Show 200 more"), (400, "Show 31 more")):
        assert page.page.locator("#list tbody tr").count() == shown
        assert more.inner_text() == words
        more.click()
    assert page.page.locator("#list tbody tr").count() == 431
    assert more.is_hidden()
    page.go("#view=trials&status=failed")
    assert "None of 431 trials is like that" in page.page.inner_text("#list")
    assert page.page.locator("#list table").is_hidden()
    assert page.page.get_by_label("Status").input_value() == "failed"


def test_seconds_of_a_list_have_as_many_decimals(recorded: Any, written_page: Any, opened: Any) -> None:
    run = recorded(
        *(
            (made(f"t{place}", epoch=place + 1, agent_s=own), (), ())
            for place, own in enumerate((0.1, 0.12, 3.0))
        )
    )
    page = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trials")

    assert texts(page, "#list tbody td:nth-child(9)") == ["0.10", "0.12", "3.00"]


def test_long_names_of_a_list_wrap(recorded: Any, written_page: Any, opened: Any) -> None:
    run = recorded((made("t1", agent="a rather long name " * 15, task_id="another-long-name-" * 15), (), ()))
    path = written_page(chosen([("run", run)], read_scored(run)))
    page = opened(path, "#view=trials", viewport={"width": 1400, "height": 900})

    assert page.page.locator("#list .table-scroll").evaluate("box => box.scrollWidth <= box.clientWidth")


def test_on_a_phone_a_trial_stands_beside_its_status(recorded: Any, written_page: Any, opened: Any) -> None:
    run = recorded((made("a-task-with-a-long-name.some-variant.an-agent.1.0123abcd"), (), ()))
    path = written_page(chosen([("run", run)], read_scored(run)))
    page = opened(path, "#view=trials", viewport={"width": 390, "height": 844})

    box = page.page.locator("#list tbody .badge").bounding_box()
    assert box["x"] + box["width"] <= 390


def test_at_phone_width_nothing_sticks_out(run: Run, written_page: Any, opened: Any) -> None:
    path = written_page(chosen([("run", run)], read_scored(run)))
    page = opened(path, "#view=trial&trial=t1", viewport={"width": 390, "height": 844})

    assert page.page.evaluate("document.documentElement.scrollWidth") == 390
    page.go("#view=trials")
    assert page.page.evaluate("document.documentElement.scrollWidth") == 390


def test_nothing_in_the_scripts_makes_markup_of_text() -> None:
    folder = Path(__file__).resolve().parents[3] / "reports"
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.style\b|srcdoc|DOMParser"
    )

    for path in sorted(folder.glob("*.js")):
        assert forbidden.findall(path.read_text()) == []
