"""The page in a real browser, opened from disk, as somebody would use it."""

from __future__ import annotations

import importlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.report import report
from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.step import Act, Prompt, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOSTILE = "</script><script>window.ran=1</script><img src=x onerror=window.ran=2>\x1b[31m\u202e{{7*7}}"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Three agents of different strength at six tasks, one of which says what no page should run."""
    path = tmp_path_factory.mktemp("runs") / "run"
    suites = (SuiteEntry(name="s", digest="d1"),)
    with RunWriter.create(path, RunManifest(run_id="r", created_at=NOON, suites=suites)) as writer:
        for place, agent in enumerate(("weak", "middling", "strong")):
            for task in range(6):
                said = HOSTILE if agent == "weak" and task == 0 else "fine"
                steps = (
                    Prompt(step=0, role="user", text="Do it."),
                    Think(step=1, reasoning=said, output_tokens=10),
                    Act(
                        step=2, think_step=1, call_index=0, tool="bash", arguments='{"command": "make"}',
                        observation=said, stdout=said, exit_code=int(task < 3 - place),
                    ),
                )  # fmt: skip
                trial = Trial(
                    run_id="r", trial_id=f"t{task}.{agent}", suite="s", suite_digest="d1", task_id=f"t{task}", epoch=1,
                    agent=agent, model=agent, status="failed" if task < 4 - 2 * place else "passed",
                    output_tokens=100 * (place + 1), agent_s=1.0,
                )  # fmt: skip
                writer.commit(trial, steps)
        writer.finish()
    return path


@pytest.fixture(scope="module")
def board(run, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("board") / "board.html"
    report([str(run)], out=path)
    return path


@pytest.fixture
def visit(browser):
    """Open a page from disk; whatever goes wrong in it makes the test fail when it ends."""
    opened: list[tuple[Any, list[str], list[str]]] = []

    def go(path: Path, hash_: str = "", **options: Any) -> Any:
        page = browser.new_context(**options).new_page()
        page.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.blockedURI))"
        )
        wrong: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        opened.append((page, wrong, requests))
        page.goto(f"{path.as_uri()}{hash_}")
        page.wait_for_selector("html.js .view.on")
        return page

    yield go
    for page, wrong, requests in opened:
        assert wrong == []
        assert page.evaluate("window.violations") == []
        assert page.evaluate("window.ran === undefined")
        assert all(url.startswith(("file://", "blob:")) for url in requests)
        page.context.close()


def agents(page) -> list[str]:
    return page.eval_on_selector_all(
        "#board tbody tr", "rows => rows.filter(row => !row.hidden).map(row => row.dataset.agent)"
    )


def test_the_best_stand_first_and_a_heading_sorts(visit, board):
    page = visit(board)
    assert agents(page) == ["strong", "middling", "weak"]
    head = page.locator("th[data-key=tokens]")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert agents(page) == ["strong", "middling", "weak"]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert agents(page) == ["weak", "middling", "strong"]


def test_typing_filters_and_counts(visit, board):
    page = visit(board)
    page.fill("#filter", "mid")
    assert agents(page) == ["middling"]
    assert page.text_content("#count") == "1 of 3 agents"


def test_columns_hide_and_the_address_remembers_everything(visit, board):
    page = visit(board)
    page.click(".menu summary")
    page.uncheck("#columns input[value=seconds]")
    page.fill("#filter", "str")
    page.click("th[data-key=tokens] button")
    again = visit(board, page.evaluate("location.hash"))
    assert agents(again) == ["strong"]
    assert again.locator("th[data-key=seconds]").is_hidden()
    assert again.locator("th[data-key=tokens]").get_attribute("aria-sort") == "descending"


def test_views_are_links_and_the_way_back_works(visit, board):
    page = visit(board)
    page.click("nav a[data-view=cost]")
    assert page.locator("#view-cost svg").first.is_visible()
    assert page.locator("#view-table").is_hidden()
    page.go_back()
    page.wait_for_selector("#view-table.on")


def test_a_number_leads_to_its_trials_and_to_the_steps(visit, board):
    page = visit(board)
    page.click("#board tr[data-agent=weak] td:not(.off) a >> nth=0")
    page.wait_for_selector("#view-trials.on .trial-table tbody tr")
    assert page.locator("#view-trials .trial-table tbody tr").count() == 6
    page.click("#view-trials .trial-table tbody tr a >> nth=0")
    page.wait_for_selector("#view-trial.on")
    page.wait_for_selector("#view-trial .drawn h3, #view-trial .drawn h2, #view-trial .drawn dl")
    assert "t0.weak" in page.text_content("#view-trial")
    assert "onerror" in page.text_content("#view-trial")


def test_a_folder_loads_trials_when_they_are_asked_for(visit, run, tmp_path):
    report([str(run)], out=tmp_path / "board")
    page = visit(tmp_path / "board" / "index.html", "#view=trial&trial=t0.strong")
    page.wait_for_selector("#view-trial .drawn dl")
    assert "t0.strong" in page.text_content("#view-trial")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["table", "cost", "tasks", "recovery", "groups", "trials"])
def test_nothing_sticks_out_of_the_page(visit, board, width, view):
    page = visit(board, f"#view={view}", viewport={"width": width, "height": 800}, color_scheme="dark")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_everything_but_trials_is_there(browser, board):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(board.as_uri())
    assert page.locator("#board tbody tr").count() == 3
    assert page.locator("#view-cost svg").first.is_visible()
    assert page.locator(".script-only").first.is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "view", ["table", "cost", "tasks", "recovery", "groups", "trials", "trial&trial=t0.weak"]
)
def test_axe_finds_nothing_serious(visit, board, scheme, view):
    axe = (
        pytest.importorskip("axe_playwright_python.sync_playwright")
        if not required()
        else importlib.import_module("axe_playwright_python.sync_playwright")
    )
    page = visit(board, f"#view={view}", color_scheme=scheme)
    page.wait_for_timeout(200)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (one["id"], one["nodes"][0]["html"][:120])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def required() -> bool:
    return "browser" in os.environ.get("EVALKIT_REQUIRE", "").split(",")
