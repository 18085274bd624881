"""The page in a real browser, opened from disk, as somebody would use it."""

from __future__ import annotations

import importlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.report import report
from evalkit.trajectory.manifest import AgentEntry, RunManifest, SuiteEntry
from evalkit.trajectory.step import Act, Prompt, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOSTILE = "</script><script>window.ran=1</script><img src=x onerror=window.ran=2>\x1b[31m\u202e{{7*7}}"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Three agents of different strength at six tasks, one of which says what no page should run."""
    path = tmp_path_factory.mktemp("runs") / "run"
    suites = (SuiteEntry(name="s", digest="d1", source=f"/{'a-long-folder/' * 20}s"),)
    names = ("weak", "middling", "strong")
    entries = tuple(AgentEntry(id=agent, settings={"model": agent}) for agent in names)
    manifest = RunManifest(run_id="r", created_at=NOON, suites=suites, agents=entries)
    with RunWriter.create(path, manifest) as writer:
        for place, agent in enumerate(names):
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


@pytest.fixture(scope="module")
def marked(tmp_path_factory) -> Path:
    """A page of which every view has something to draw, of agents with wide and long names that begin alike."""
    path = tmp_path_factory.mktemp("marked") / "run"
    suites = (SuiteEntry(name="s", digest="d1"),)
    names = [f"{'W' * 30}/model", "字" * 40 + "1", "字" * 40 + "2", "@" * 50, "MW" * 4, "short"]
    with RunWriter.create(path, RunManifest(run_id="r", created_at=NOON, suites=suites)) as writer:
        for place, agent in enumerate(names):
            for task in range(4):
                for variant in ("clean", "slow"):
                    trial = Trial(
                        run_id="r", trial_id=f"t{task}.{variant}.{place}", suite="s", suite_digest="d1",
                        task_id=f"{'WM' * 12}{task}", epoch=1, agent=agent, model="m", variant=variant,
                        status="failed" if (task + place) % 3 == 0 else "passed", output_tokens=100 * (place + 1),
                        agent_s=1.0 + place, skills=("web",), difficulty="easy",
                    )  # fmt: skip
                    writer.commit(trial, ())
        writer.finish()
    report([str(path)], out=path.parent / "board.html")
    return path.parent / "board.html"


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
@pytest.mark.parametrize("view", ["table", "cost", "budgets", "tasks", "recovery", "groups", "trials"])
def test_nothing_sticks_out_of_the_page(visit, board, width, view):
    page = visit(board, f"#view={view}", viewport={"width": width, "height": 800}, color_scheme="dark")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_column_sorts_both_ways(visit, board):
    page = visit(board)
    first = agents(page)
    for key in page.eval_on_selector_all("th[data-key]:not(.off)", "all => all.map(one => one.dataset.key)"):
        head = page.locator(f"th[data-key='{key}']")
        found = []
        for _ in range(3):
            head.locator("button").click()
            found.append(head.get_attribute("aria-sort"))
        assert sorted(found[:2]) == ["ascending", "descending"]
        assert found[2] == "none"
        assert agents(page) == first


def test_the_menu_of_columns_closes_by_escape_and_by_a_click_elsewhere(visit, board):
    page = visit(board)
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.click("h1")):
        page.click(".menu summary")
        assert page.locator("#columns").is_visible()
        close()
        assert page.locator("#columns").is_hidden()
    page.click(".menu summary")
    page.uncheck("#columns input[value=seconds]")
    assert page.locator("#columns").is_visible()
    assert page.locator("#columns label").first.inner_text().strip() == "pass^1"


def test_a_filter_that_nobody_meets_says_so(visit, board):
    page = visit(board)
    page.fill("#filter", "nobody")
    assert page.inner_text(".nothing") == 'No agent has all of "nobody" in its name, model or settings.'
    page.fill("#filter", "")
    assert page.locator(".nothing").is_hidden()


def downloaded(page, click) -> bytes:
    with page.expect_download() as found:
        click()
    return found.value.path().read_bytes()


def test_the_numbers_that_are_copied_are_those_of_the_files(visit, run, board, tmp_path):
    for name in ("board.csv", "board.md"):
        report([str(run)], out=tmp_path / name)
    page = visit(board, permissions=["clipboard-read", "clipboard-write"])
    assert downloaded(page, lambda: page.click("#csv")) == (tmp_path / "board.csv").read_bytes()
    page.click("#copy")
    page.wait_for_selector("#count:has-text('Copied')")
    whole = (tmp_path / "board.md").read_text()
    assert page.evaluate("navigator.clipboard.readText()") == whole

    page.fill("#filter", "mid")
    lines = (tmp_path / "board.csv").read_bytes().split(b"\r\n")
    assert downloaded(page, lambda: page.click("#csv")).split(b"\r\n") == [
        lines[0],
        *(line for line in lines if b"middling" in line),
        b"",
    ]
    chosen = visit(board, "#columns=seconds", permissions=["clipboard-read", "clipboard-write"])
    chosen.click("#copy")
    chosen.wait_for_selector("#count:has-text('Copied')")
    copied = chosen.evaluate("navigator.clipboard.readText()").split("\n")
    assert copied[:3] == [
        "| rank | agent | median seconds |",
        "| --- | --- | --- |",
        "| 1–3 | strong | 1.00 |",
    ]


def test_cells_of_tasks_lead_to_their_trials_also_by_keyboard_and_the_way_back_works(visit, board):
    page = visit(board, "#view=tasks")
    page.wait_for_selector(".heatmap.linked")
    page.focus("#view-tasks .box")
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    agent, task, _ = name.replace(": ", ", ").split(", ")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view-trials.on .trial-table tbody tr")
    assert page.locator("#view-trials tbody a").all_inner_texts() == [f"{task}.{agent}"]
    page.go_back()
    page.wait_for_selector("#view-tasks.on")


@pytest.mark.parametrize("view", ["cost", "budgets", "groups", "recovery"])
def test_marks_lead_to_the_trials_of_their_agent(visit, marked, view):
    page = visit(marked, f"#view={view}")
    mark = page.locator(f"#view-{view} a.trials").first
    mark.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#view-trials.on .trial-table tbody tr")
    assert len(set(page.locator("#view-trials tbody td:nth-child(3)").all_inner_texts())) == 1
    page.go_back()
    page.wait_for_selector(f"#view-{view}.on")


@pytest.mark.parametrize("view", ["cost", "budgets", "tasks", "recovery", "groups"])
def test_on_a_phone_drawings_can_be_read_and_no_text_is_outside(visit, marked, view):
    page = visit(marked, f"#view={view}", viewport={"width": 390, "height": 844})
    found = page.eval_on_selector_all(
        f"#view-{view} svg.chart",
        """drawings => drawings.map(svg => {
            const whole = svg.getBoundingClientRect(), scale = whole.width / svg.viewBox.baseVal.width;
            const texts = [...svg.querySelectorAll("text")], boxes = texts.map(text => text.getBoundingClientRect());
            const left = Math.min(...boxes.map(box => box.left)), right = Math.max(...boxes.map(box => box.right));
            const sizes = texts.map(text => parseFloat(getComputedStyle(text).fontSize));
            return [scale * Math.min(...sizes), left - whole.left, whole.right - right];
        })""",
    )
    assert found
    for size, left, right in found:
        assert size >= 11
        assert left >= 0
        assert right >= 0


def test_on_a_phone_an_opened_agent_and_the_menu_of_columns_can_be_read(visit, board):
    page = visit(board, viewport={"width": 390, "height": 844})
    page.click("#board tbody summary >> nth=0")
    assert page.locator("#board details[open] .command").bounding_box()["width"] > 200
    assert min(box["width"] for box in boxes(page, "#board details[open] dd")) > 200
    page.click(".menu summary")
    menu = page.locator("#columns").bounding_box()
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 390


def boxes(page, selector: str) -> list[Any]:
    return [one.bounding_box() for one in page.locator(selector).all()]


def test_no_arrow_stands_alone_on_a_line(visit, board):
    page = visit(board)
    texts = page.eval_on_selector_all("thead button", "all => all.map(one => one.textContent)")
    assert any(text.endswith("\u00a0↓") for text in texts)
    assert not any(text.endswith((" ↑", " ↓")) for text in texts)


@pytest.mark.parametrize(
    ("hash_", "printed"),
    [
        ("", ["table", "cost", "budgets", "tasks", "recovery", "groups"]),
        ("#view=trial&trial=t0.weak", ["trial"]),
        ("#view=trials", ["trials"]),
    ],
)
def test_what_is_printed(visit, board, hash_, printed):
    page = visit(board, hash_)
    page.emulate_media(media="print")
    shown = page.eval_on_selector_all(
        ".view", "all => all.filter(one => one.checkVisibility()).map(one => one.id.slice(5))"
    )
    assert shown == printed


def test_a_page_whose_data_are_damaged_says_so(visit, board, tmp_path):
    text = board.read_text()
    start = text.index('id="data-index">') + len('id="data-index">')
    broken = tmp_path / "broken.html"
    broken.write_text(f"{text[:start]}AAAA{text[start + 4 :]}")
    page = visit(broken, "#view=trials")
    page.wait_for_selector("#view-trials [role=alert]")
    assert "cannot be listed: the data are damaged" in page.inner_text("#view-trials")


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
