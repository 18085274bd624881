"""A page is one file in which nothing runs but its own script, whatever agents and tasks are called."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from urllib.parse import parse_qs

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

    def make(
        *agents: str, task: str = "t", root=None, seconds: tuple[float, ...] = (), **given: object
    ) -> str:
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
                        agent_s=seconds[number] if seconds else None,
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


def test_numbers_of_a_column_have_as_many_decimals(page):
    text = page("a", "b", seconds=(0.1, 12.34))
    cells = re.findall(r'data-value="[0-9.]+" title="Median time[^>]+><a[^>]+>([^<]+)', text)
    assert sorted(cells) == ["0.1", "12.3"]


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
    ("file", "text", "told"),
    [
        ("leaderboard.html.j2", "\n{{ nobody }}", ":2: the template is wrong: 'nobody' is undefined"),
        ("leaderboard.html.j2", "{% if %}", ":1: the template is wrong"),
        ("leaderboard.html.j2", "\n\n{{ 1/0 }}", ":3: the template is wrong: ZeroDivisionError"),
        ("leaderboard.html.j2", '{{ "a" + 1 }}', ":1: the template is wrong: TypeError"),
        (
            "leaderboard.html.j2",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            ": the template is wrong: Recursion",
        ),
        (
            "leaderboard.html.j2",
            "a\n{% include 'no.j2' %}",
            ":2: the template is wrong: there is no file 'no.j2'",
        ),
        ("leaderboard.html.j2", b"\n\xff", ":2: is not UTF-8"),
        ("leaderboard.html.j2", '{{ "\\ud800" }}', ": the template is wrong: UnicodeEncodeError"),
        ("style.css", b"a{}\n\xff", ":2: is not UTF-8"),
        ("style.css", "a{}\n/* </style> */", ":2: '</style' would end the style"),
        ("trial.js", "let a = '</SCRIPT>';", ":1: '</SCRIPT' would end the script"),
        ("script.js", "'<!--<script>'", ":1: '<!--' would end the script"),
    ],
)
def test_whatever_is_wrong_with_a_file_of_ones_own_names_it_and_says_what_to_do(
    page, tmp_path, file, text, told
):
    own = tmp_path / "mine" / "reports" / file
    own.parent.mkdir(parents=True)
    own.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        page("a", root=tmp_path / "mine")
    line = re.sub(r"^:\d+", "", str(caught.value).removeprefix(str(own)))
    assert str(caught.value).startswith(f"{own}{told}") or line.startswith(told)
    assert "remove" in (caught.value.hint or "")


def test_a_file_that_is_included_is_named_where_it_is_wrong(page, tmp_path):
    own = tmp_path / "mine" / "reports"
    own.mkdir(parents=True)
    (own / "leaderboard.html.j2").write_text("{% include 'part.j2' %}")
    (own / "part.j2").write_text("\n\n{{ 1/0 }}")
    with pytest.raises(ConfigError, match=r"part\.j2:3: the template is wrong: ZeroDivisionError"):
        page("a", root=tmp_path / "mine")


def test_a_fault_of_the_bundled_template_is_not_blamed_on_a_project(page, tmp_path):
    with pytest.raises(TypeError):
        page("a", root=tmp_path / "mine", views=None)


def test_titles_and_facts_have_no_control_characters_and_an_end(page):
    text = page("\u202ea\x1b", title="\x1b\u202e" + "x" * 2_000_000)
    assert not {"\u202e", "\x1b", "\0"} & set(text)
    assert len(text) < 300_000


def test_a_link_names_an_agent_as_the_list_of_trials_does(page):
    text = page("\u202ea" * 300)
    (name,) = {own["data-agent"] for tag, own in Tags(text).found if tag == "tr" and "data-agent" in own}
    links = [
        own["href"] for tag, own in Tags(text).found if tag == "a" and "agent=" in (own.get("href") or "")
    ]
    assert name is not None
    assert {parse_qs(link[1:])["agent"][0] for link in links if link} == {name}


def test_what_the_numbers_do_not_cover_stands_above_them(page):
    assert '<p class="note" role="note">r is not scored' in page("a")
