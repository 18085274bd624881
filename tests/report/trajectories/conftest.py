"""Recorded runs for a page to show, a page of them as strict as a report's, and a browser to open it in."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.report.block import block
from evalkit.report.trajectories import Trajectories
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

REPORTS = Path(__file__).resolve().parents[3] / "reports"
SCRIPTS = ("trials.js", "trial_parts.js", "trial.js")
NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)
HARNESS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
const decoded = evalkit.decode(document.getElementById("data-index").textContent);
async function route() {
  const parameters = new URLSearchParams(location.hash.slice(1)), index = await decoded;
  const list = document.getElementById("list"), one = document.getElementById("one");
  list.hidden = parameters.get("view") === "trial";
  one.hidden = !list.hidden;
  if (list.hidden) await evalkit.showTrial(one, index, parameters);
  else evalkit.renderTrials(list, index, Object.fromEntries(parameters));
  document.body.dataset.ready = location.hash;
}
addEventListener("hashchange", route);
route();
"""
STYLES = ("style.css", "trial.css")


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Run]:
    """A run of (trial, steps, scores)."""

    def make(*trials: tuple[Trial, Sequence[Step], Sequence[ScoreRow]], name: str = "run") -> Run:
        path = tmp_path / name
        with RunWriter.create(path, RunManifest(run_id="run-1", created_at=NOON)) as writer:
            for trial, steps, _ in trials:
                writer.commit(trial, steps)
            writer.write_scores([score for _, _, scores in trials for score in scores])
            writer.finish()
        return load(path)

    return make


@pytest.fixture
def written_page(tmp_path: Path) -> Callable[[Trajectories], Path]:
    """A page of trajectories with a report's Content-Security-Policy."""

    def write(trajectories: Trajectories) -> Path:
        script = "\n".join((REPORTS / name).read_text() for name in SCRIPTS) + HARNESS
        style = "\n".join((REPORTS / name).read_text() for name in STYLES)
        policy = (
            f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}' 'strict-dynamic'; "
            "base-uri 'none'; form-action 'none'"
        )
        data = [
            f'<script type="application/gzip;base64" id="data-trials-{number}">{text}</script>'
            for number, text in enumerate(trajectories.blocks)
        ]
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<style>{style}</style><main><section id="list"></section><section id="one"></section></main>'
            f'<script type="application/gzip;base64" id="data-index">{block(trajectories.index)}</script>'
            f"{''.join(data)}<script>{script}</script>"
        )
        return path

    return write


@dataclass
class Opened:
    """A page in a browser, and what went wrong in it."""

    page: Any
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, hash_: str) -> None:
        """Follow a link, and wait until the page has."""
        self.page.evaluate("hash => { location.hash = hash }", hash_)
        self.page.wait_for_selector(f"body[data-ready={json.dumps(hash_)}]")

    def violations(self) -> list[str]:
        return self.page.evaluate("window.violations")


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a page from disk."""
    contexts: list[Any] = []

    def open_page(path: Path, hash_: str = "", **options: Any) -> Opened:
        contexts.append(browser.new_context(**options))
        result = Opened(contexts[-1].new_page())
        result.page.on("console", lambda message: result.said.append(message.text))
        result.page.on("pageerror", lambda error: result.said.append(str(error)))
        result.page.on("request", lambda request: result.requests.append(request.url))
        result.page.goto(f"{path.as_uri()}{hash_}")
        # By selector: waiting for a function needs eval, which the page's policy forbids.
        result.page.wait_for_selector("body[data-ready]")
        return result

    yield open_page
    for context in contexts:
        context.close()
