"""A generation whose whole output was eaten by thinking is counted, whether or not the thinking is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.project import Project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.step import Think

pytestmark = pytest.mark.local
QWEN = "openai-compatible/Qwen3-8B"
INSPECTS = "inspect/openai-api/local/Qwen3-8B"
SUBMIT = ("submit", "{}")
COUNTED = {
    "prompt_tokens": 10,
    "completion_tokens": 64,
    "total_tokens": 74,
    "completion_tokens_details": {"reasoning_tokens": 64},
}
UNCOUNTED = {"prompt_tokens": 10, "completion_tokens": 64, "total_tokens": 74}


@pytest.fixture
def ask(make_suite, run_suite, endpoint, monkeypatch):
    monkeypatch.setenv("LOCAL_API_KEY", "key-for-the-test")

    def run(*replies, model: str = QWEN, **flags) -> Run:
        endpoint(*replies)
        return run_suite(make_suite(), model, base_url=endpoint.url, **flags)

    return run


def starved_in(run: Run) -> tuple[float, list[int]]:
    """How many generations of the only trial starved, and the steps that say so."""
    path = Path(run.path)
    score_run(path, find_scorers(Project(path), ("overthinking",)))
    (score,) = [one for one in load(path).scores.to_pandas().to_dict("records") if one["metric"] == "starved"]
    return score["value"], list(score["evidence"])


@pytest.mark.parametrize("model", [QWEN, INSPECTS])
@pytest.mark.parametrize(
    ("text", "message", "usage"),
    [
        (None, {}, UNCOUNTED),
        ("", {}, COUNTED),
        ("\n\n", {}, UNCOUNTED),
        ("", {"reasoning_content": "So, first"}, UNCOUNTED),
        ("<think>So, first", {}, UNCOUNTED),
    ],
    ids=["null", "empty, counted", "white space", "shown", "a tag that is never closed"],
)
def test_starved_generations_are_counted_with_and_without_the_thinking(
    ask, said, model, text, message, usage
):
    cut = said(text, finish="length", usage=usage, **message)
    run = ask(cut, cut, said(None, SUBMIT), model=model)
    (trial,) = run.rows()
    _, steps = run.trial(trial.trial_id)
    thinks = [step for step in steps if isinstance(step, Think)]
    assert (trial.status, len(thinks)) == ("failed", 3)
    value, evidence = starved_in(run)
    assert value == 2
    assert evidence == [thinks[0].step, thinks[1].step]
    assert {think.reasoning_tokens for think in thinks[:2]} == {64 if usage is COUNTED else None}


def test_an_answer_or_a_call_that_was_cut_off_is_not_starved(ask, said):
    run = ask(
        said("The answer is", finish="length"),
        said(None, ("bash", '{"command": "ls'), finish="length"),
        said(None, SUBMIT),
    )
    assert starved_in(run)[0] == 0
