"""A page is one file in which nothing runs but its own script, whatever agents and tasks are called."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from evalkit.errors import ConfigError
from evalkit.project import Project
from evalkit.report.board import make_board
from evalkit.report.page import render
from evalkit.report.views import chart_views
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}</title></style>\u202e"


@pytest.fixture
def page(tmp_path):
    """The page of a run whose agents and tasks have these names."""

    def make(*agents: str, task: str = "t", root=None, **given: object) -> str:
        path = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        suites = (SuiteEntry(name="s", digest="d1"),)
        with RunWriter.create(path, RunManifest(run_id="r", created_at=NOON, suites=suites)) as writer:
            for number, agent in enumerate(agents):
                for place in range(3):
                    trial = Trial(
                        run_id="r",
                        trial_id=f"x{number}.{place}",
                        suite="s",
                        suite_digest="d1",
                        task_id=f"{task}{place}",
                        epoch=1,
                        agent=agent,
                        model=agent,
                        status="passed" if place else "failed",
                        output_tokens=100 + number,
                    )
                    writer.commit(trial, ())
            writer.finish()
        run = load(str(path))
        board = make_board([("r", run)], [read_scored(run)], {})
        project = Project(root or tmp_path / "project")
        return render(board, project, **{"title": "s", "version": "1", "views": chart_views(board), **given})

    return make


class Tags(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_nothing_is_fetched_and_nothing_else_may_run(page):
    tags = Tags(page("a", "b")).found
    (policy,) = [own["content"] for tag, own in tags if own.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not [
        tag for tag, own in tags if own.get("src") or tag in ("link", "iframe", "object", "base", "img")
    ]
    assert all(own["href"].startswith("#") for _, own in tags if own.get("href"))


def test_names_of_agents_and_tasks_are_text_and_nothing_else(page):
    text = page(HOSTILE, "b", task=HOSTILE, title=HOSTILE)
    plain, hostile = Tags(page("a", "b")).found, Tags(text).found
    assert [tag for tag, _ in hostile if tag in ("script", "style", "img")] == [
        tag for tag, _ in plain if tag in ("script", "style", "img")
    ]
    assert not [own for _, own in hostile for name in own if name.startswith("on") or name == "style"]
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", text)[0]


def test_the_same_run_gives_the_same_bytes(page, tmp_path):
    assert page("a", "b") == page("a", "b")


def test_without_scripts_the_table_is_there_with_every_agent(page):
    rows = [own for tag, own in Tags(page("a", "b", "c")).found if tag == "tr" and "data-agent" in own]
    assert sorted(own["data-agent"] or "" for own in rows) == ["a", "b", "c"]


def test_headings_can_be_reached_and_say_how_they_are_sorted(page):
    tags = Tags(page("a")).found
    heads = [own for tag, own in tags if tag == "th" and own.get("scope") == "col"]
    assert all(own["aria-sort"] == "none" for own in heads)
    assert sum(tag == "button" for tag, _ in tags) >= len(heads)


def test_a_template_of_ones_own_takes_the_place_of_the_bundled_one(page, tmp_path):
    (tmp_path / "mine" / "reports").mkdir(parents=True)
    template = tmp_path / "mine" / "reports" / "leaderboard.html.j2"
    template.write_text("<p>{{ board.rows|length }} of mine: {{ rows[0].name }}</p>")
    assert page("a<b", root=tmp_path / "mine") == "<p>1 of mine: a&lt;b</p>"


@pytest.mark.parametrize(
    ("text", "told"), [("{{ nobody }}", "nobody"), ("{% if %}", "leaderboard.html.j2:1")]
)
def test_a_template_that_is_wrong_is_named(page, tmp_path, text, told):
    (tmp_path / "mine" / "reports").mkdir(parents=True)
    (tmp_path / "mine" / "reports" / "leaderboard.html.j2").write_text(text)
    with pytest.raises(ConfigError) as caught:
        page("a", root=tmp_path / "mine")
    assert told in str(caught.value)
