"""Lasting changes in a page: at the step that made them, in a lane, and all of them in a table."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evalkit.report.effects_json import MOST
from evalkit.report.trajectories import Trajectories, chosen
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

STEPS = (
    Think(step=0, output_tokens=5),
    Act(step=1, think_step=0, tool="bash", arguments='{"command":"make"}', exit_code=0),
    Act(step=2, think_step=0, tool="bash", arguments='{"command":"tidy"}', exit_code=0),
)


def change(resource: str, kind: str, class_: str | None, **more: Any) -> Effect:
    return Effect(trial_id="t1", channel="file", resource=resource, change=kind, class_=class_, **more)


DAMAGE = (
    change("/app/out.csv", "created", "intended", step=1, evidence=(1,)),
    change("/etc/hosts", "modified", "collateral", step=2, evidence=(1, 2), severity=0.5),
    change("/app/users.db", "deleted", "forbidden", step=2, irreversible=True, severity=1.0),
    change("/tmp/x", "created", "collateral", severity=0.25),
    change("/app/<b>\u202eevil", "created", "noise", step=2),
)


@pytest.fixture
def page_of(tmp_path):
    """What a page holds of a trial with these changes."""

    def make(*effects: Effect, measured: bool | None = True, clean: float | None = None) -> Trajectories:
        fields: dict[str, Any] = {"suite": "s", "task_id": "t", "epoch": 1, "agent": "a", "status": "passed"}
        trial = Trial(run_id="run-1", trial_id="t1", effects_measured=measured, **fields)
        score = ScoreRow(
            trial_id="t1",
            scorer="side_effects",
            scorer_version="1",
            metric="clean",
            value=clean,
            scored_at=None,
        )
        about = RunManifest(run_id="run-1", created_at=datetime(2025, 1, 2, tzinfo=UTC))
        with RunWriter.create(tmp_path / "run", about) as writer:
            writer.commit(trial, STEPS, effects)
            if clean is not None:
                writer.write_scores([score])
            writer.finish()
        run = load(tmp_path / "run")
        return chosen([("run", run)], read_scored(run))

    return make


def held(found: Trajectories) -> dict[str, Any]:
    (text,) = found.blocks
    (trial,) = json.loads(gzip.decompress(base64.b64decode(text)))
    return trial


def test_each_step_says_what_it_changed(page_of):
    (lane,) = held(page_of(*DAMAGE))["lanes"]
    assert lane["title"] == "Lasting changes"
    assert [(mark["step"], mark["kind"], mark["label"]) for mark in lane["marks"]][:3] == [
        (1, "intended", "intended: created /app/out.csv"),
        (2, "forbidden", "forbidden: deleted /app/users.db for good"),
        (2, "collateral", "collateral: modified /etc/hosts"),
    ]


def test_all_changes_are_there_the_worst_first(page_of):
    effects = held(page_of(*DAMAGE))["effects"]
    assert effects["count"] == 5
    assert effects["rows"]["resource"][:3] == ["/app/users.db", "/etc/hosts", "/tmp/x"]
    assert effects["rows"]["step"][:3] == [2, 2, None]
    assert effects["rows"]["evidence"][1] == [1, 2]
    assert not any("\u202e" in resource for resource in effects["rows"]["resource"])


def test_of_very_many_changes_the_worst_are_named(page_of):
    many = [change(f"/app/{n:04}", "created", "intended", step=1) for n in range(500)]
    effects = held(page_of(*many, *DAMAGE))["effects"]
    assert effects["count"] == 505
    assert len(effects["rows"]["resource"]) == MOST
    assert effects["rows"]["resource"][0] == "/app/users.db"


def test_of_very_many_changes_of_one_step_the_first_are_named(page_of):
    many = [change(f"/app/{n:04}", "created", "intended", step=1) for n in range(500)]
    (mark,) = held(page_of(*many))["lanes"][0]["marks"]
    assert mark["label"] == "intended: created /app/0000, created /app/0001, created /app/0002 and 497 more"


def test_nothing_measured_is_not_nothing_changed(page_of):
    assert held(page_of(measured=None))["effects"] is None


def test_nothing_changed_is_said(page_of):
    assert held(page_of())["effects"]["count"] == 0


def test_a_passed_trial_that_is_not_clean_is_notable(page_of):
    assert page_of(*DAMAGE, clean=0.0).index["note"] == ["side effects"]


def test_a_clean_one_is_not(page_of):
    assert page_of(clean=1.0).index["note"] == [None]


def test_a_reader_sees_them_in_a_browser(page_of, written_page, opened):
    page = opened(written_page(page_of(*DAMAGE)), "#view=trial&trial=t1")
    page.page.wait_for_selector(".trial")
    at_step = page.page.locator('.step[data-step="2"]').inner_text()
    assert "forbidden: deleted /app/users.db for good" in at_step
    table = page.page.locator("table", has_text="Severity").first
    first = table.locator("tbody tr").first
    assert first.inner_text().split("\t") == ["deleted", "/app/users.db", "forbidden irreversible", "1", "2"]
    assert "not known" in table.inner_text()
    assert "intended" not in table.inner_text()
    rest = page.page.locator("details", has_text="that the task asks for or expects")
    assert rest.get_attribute("open") is None
    assert "intended" in rest.locator("tbody").text_content()
    assert page.page.locator(".lane.own rect").last.get_attribute("class") == "intended"
    assert page.page.locator(".lane.own rect.forbidden + rect").get_attribute("class") == "intended"
    first.locator("a").click()
    assert "current" in page.page.locator('.step[data-step="2"]').get_attribute("class")
    assert page.said == []
    assert page.violations() == []


def test_a_trial_that_changed_nothing_says_so_in_a_browser(page_of, written_page, opened):
    page = opened(written_page(page_of()), "#view=trial&trial=t1")
    page.page.wait_for_selector(".trial")
    assert "changed nothing for good" in page.page.locator(".trial").inner_text()
