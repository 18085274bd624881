"""From the flag on the board to the step that shows the tampering, in a browser, as somebody would click."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.report import report
from evalkit.project import find_project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOSTILE = "<img src=x onerror=window.ran=2></td><script>window.ran=1</script>\x1b[31m\u202e was emptied"
FOUND = Finding(
    code="T1",
    level="confirmed",
    what=HOSTILE,
    steps=(4,),
    resource="/app/tests/<script>window.ran=3</script>",
    source="harness",
)


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A page of two agents, of which one emptied the tests at step 4 of one trial."""
    path = tmp_path / "runs" / "run"
    path.parent.mkdir()
    about = RunManifest(run_id="r", created_at=NOON, suites=(SuiteEntry(name="s", digest="d1"),))
    with RunWriter.create(path, about) as writer:
        for agent in ("cheat", "honest"):
            for task in ("t0", "t1"):
                trial_id, fields = f"{task}.{agent}", dict[str, Any](suite="s", suite_digest="d1", epoch=1)
                steps: list[Any] = [Prompt(step=0, role="user", text="Do it.")]
                for step in (1, 3):
                    steps += [
                        Think(step=step, output_tokens=10),
                        Act(
                            step=step + 1,
                            think_step=step,
                            call_index=0,
                            tool="bash",
                            observation="",
                            exit_code=0,
                        ),
                    ]
                struck = (agent, task) == ("cheat", "t0")
                if struck:
                    steps.append(Event(step=5, event="tampering", detail=FOUND.to_json()))
                effect = Effect(
                    trial_id=trial_id,
                    channel="file",
                    resource="/app/out",
                    change="created",
                    class_="intended",
                )
                row = Trial(
                    run_id="r", trial_id=trial_id, task_id=task, agent=agent, status="passed", output_tokens=20,
                    effects_measured=True, naive_passed=True, **fields,
                )  # fmt: skip
                writer.commit(row, steps, [effect])
        writer.finish()
    assert not score_run(path, find_scorers(find_project())).failed
    page = tmp_path / "board.html"
    report([str(path)], out=page)
    return page


def test_the_flag_leads_to_the_trial_and_its_evidence_to_the_step(browser: Any, board: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(board.as_uri())
    page.click("a.flag")
    page.wait_for_selector("#view-trials a:text('t0.cheat')")
    assert page.locator("#view-trials a:text('t1.cheat')").count() == 0
    page.click("#view-trials a:text('t0.cheat')")
    page.wait_for_selector("table.evidence")
    row = page.locator("table.evidence tbody tr").first
    assert "T1 tests edited, deleted or skipped" in row.inner_text()
    assert "was emptied" in row.inner_text()
    row.get_by_role("link", name="4", exact=True).click()
    page.wait_for_selector("li.step.current[data-step='4']")
    assert "step=4" in page.evaluate("location.hash")
    assert "T1 confirmed" in page.locator("li.step.current .step-head").inner_text()
    assert page.evaluate("window.ran") is None
    context.close()


def test_kinds_lead_to_the_same_trials(browser: Any, board: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{board.as_uri()}#view=tampering")
    page.wait_for_selector("#view-tampering table.kinds")
    assert "honest: no event on 2 tasks" in page.locator("#view-tampering").inner_text()
    page.click("#view-tampering table.kinds a")
    page.wait_for_selector("#view-trials a:text('t0.cheat')")
    assert page.locator("#view-trials a:text('honest')").count() == 0
    context.close()
