"""The docs: links lead somewhere, commands exist, and the example works when it is pasted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import evalkit
from evalkit.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
WRITTEN = [page for page in PAGES if page.name != "cli.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(evalkit [^`]+)`")
HEREDOC = re.compile(r"<<'(\w+)'.*?^\1$", re.MULTILINE | re.DOTALL)


def read(page: Path) -> str:
    return page.read_text("utf-8")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every `evalkit ...` in a page's shell blocks and in its sentences."""
    text = read(page)
    lines = [line for block in SHELL.findall(text) for line in HEREDOC.sub("", block).splitlines()]
    for line in (*lines, *INLINE.findall(SHELL.sub("", text))):
        for command in re.split(r"&&|;|\|", line):
            if command.strip().startswith("evalkit "):
                yield shlex.split(command, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(read(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_every_command_that_is_mentioned_exists(page: Path) -> None:
    for words in commands(page):
        command = typer.main.get_command(app)
        while words and (members := getattr(command, "commands", {})):
            assert words[0] in members, words
            command = members[words.pop(0)]
        known = {"-h", "--help", *(option for one in command.params for option in one.opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= known, words


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_names_a_distribution_that_is_not_ours(page: Path) -> None:
    assert not re.search(r"pip install (--\S+ )*evalkit\b", read(page))


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory, local_support: None) -> tuple[Path, str]:
    """A folder in which the example of writing-a-task.md was pasted, and what was printed."""
    folder = tmp_path_factory.mktemp("pasted")
    (block,) = (block for block in SHELL.findall(read(ROOT / "docs/writing-a-task.md")) if "mkdir" in block)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block], cwd=folder, env={**os.environ, "PATH": path}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.local
def test_the_example_task_is_proven_when_it_is_pasted(pasted: tuple[Path, str]) -> None:
    assert re.search(r"mail/dedupe-contacts\s+2 of 2\s+failed\s+(\d+) of \1\s+proven", pasted[1])


@pytest.mark.local
def test_columns_said_to_come_later_are_null_today(pasted: tuple[Path, str]) -> None:
    words = [sys.executable, "-m", "evalkit", "run", "suites/mail", "--out", "run"]
    subprocess.run(words, cwd=pasted[0], check=True, capture_output=True)
    run = evalkit.load(pasted[0] / "run")
    said = tomllib.loads(read(ROOT / "docs/columns.toml"))
    filled = {
        f"{table}.{column}"
        for table, rows in (("trials", run.trials.to_table()), ("steps", run.steps.to_table()))
        for column in said[table]["later"]
        if rows.column(column).null_count < rows.num_rows
    }
    assert filled == set()
    assert run.scores.count_rows() > 0
