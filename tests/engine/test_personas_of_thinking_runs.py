"""Agents that think too much, too little, or in the wrong place have exactly the metrics that they should have."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import evalkit
from evalkit.cli.app import app
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.models.tokens import count_tokens
from evalkit.project import Project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.scoring.scored_trials import read_scored
from evalkit.scoring.sweep import sweeps
from evalkit.scoring.swept_trial import swept_trials

from .conftest import GRADER, TOML, Quiet

pytestmark = pytest.mark.local

BEGIN, END, CHECK = "echo not yet > out", "echo done > out", "ls -la"
SOLVE = f"#!/bin/sh\n# step: Begin.\n{BEGIN}\n# step: End.\n{END}\n"
HARD = TOML + '[metadata.evalkit]\ndifficulty = "hard"\n'
NAMES = ("overthinker", "underthinker", "paralysed", "rogue")
SUBMIT = count_tokens("submit") + count_tokens('{"answer": ""}')
LAST_THOUGHT = count_tokens("Every step of the solution has been done.")


def call(line):
    return count_tokens("bash") + count_tokens(json.dumps({"command": line}))


def write_task(folder: Path, toml: str, **solutions: str) -> None:
    files = {
        "task.toml": toml,
        "instruction.md": "Write `done` into /app/out.\n",
        "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
        "tests/test.sh": GRADER,
        **{f"solution/{name}.sh": text for name, text in solutions.items()},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name.endswith(".sh") else 0o644)


def scored(out: Path, suite: Path, **flags):
    """The run, and its scores by model and task."""
    asked = RunFlags(suites=(str(suite),), out=out, sandbox="local", effects=False, **flags)
    start(prepare(asked, use_defaults=False), Quiet())
    score_run(out, find_scorers(Project(out), ("overthinking", "pondering", "progressing")))
    run = evalkit.load(out)
    values = defaultdict(dict)
    rows = {row.trial_id: row for row in run.rows()}
    for score in run.scores.to_pandas().to_dict("records"):
        row = rows[score["trial_id"]]
        values[row.model.removeprefix("scripted/"), row.task_id][score["metric"]] = score["value"]
    return run, values


@pytest.fixture(scope="module")
def played(tmp_path_factory, local_support):
    folder = tmp_path_factory.mktemp("personas")
    write_task(folder / "s" / "easy", TOML, solve=SOLVE)
    write_task(folder / "s" / "hard", HARD, solve=SOLVE, naive="#!/bin/sh\necho wrong > out\n")
    write_task(folder / "s" / "idle", HARD, solve=SOLVE)
    models = tuple(f"scripted/{name}" for name in NAMES)
    return scored(folder / "run", folder / "s", models=models, checkpoints=True)


@pytest.fixture(scope="module")
def trials(played):
    return {(row.model.removeprefix("scripted/"), row.task_id): row for row in played[0].rows()}


@pytest.fixture(scope="module")
def values(played):
    return played[1]


def test_only_the_underthinker_of_hard_tasks_and_the_paralysed_fail(trials):
    failed = {key for key, row in trials.items() if row.status == "failed"}
    assert failed == {
        ("underthinker", "hard"),
        ("underthinker", "idle"),
        *(("paralysed", task) for task in ("easy", "hard", "idle")),
    }


def test_the_overthinker_pays_for_thinking_and_for_not_stopping(values):
    found = values["overthinker", "easy"]
    until = 2 * 500 + call(BEGIN) + call(END)
    whole = until + 6 * (500 + call(CHECK)) + LAST_THOUGHT + SUBMIT
    assert found["tokens_spent"] == whole
    assert found["stopping_efficiency"] == pytest.approx(until / whole)
    assert found["thinking_share"] == pytest.approx((8 * 500 + LAST_THOUGHT) / whole)
    assert found["token_efficiency"] == pytest.approx(
        50 / whole
    )  # others need less than the least that counts
    assert found["path_efficiency"] == pytest.approx(50 / until)
    assert found["thinking_overlap"] == 1
    assert found["repeated_4grams"] > 0.95
    assert found["switches_per_1k"] > 50


def test_the_underthinker_of_an_easy_task_wastes_nothing(values):
    found = values["underthinker", "easy"]
    until = call(BEGIN) + call(END)
    assert found["tokens_spent"] == until + SUBMIT
    assert (found["token_efficiency"], found["thinking_share"], found["analysis_paralysis"]) == (1, 0, 0)
    assert found["stopping_efficiency"] == pytest.approx(until / (until + SUBMIT))
    assert found["premature_disengagement"] == 1


def test_the_paralysed_gives_up_after_three_generations_without_a_call(trials, values):
    assert trials["paralysed", "easy"].stop_reason == "gave_up"
    found = values["paralysed", "easy"]
    assert (found["tokens_spent"], found["analysis_paralysis"], found["longest_paralysis"]) == (1500, 1, 3)
    assert (found["token_efficiency"], found["stopping_efficiency"]) == (0, 0)
    assert found["thinking_per_effective_action"] == 1500


def test_the_rogue_is_rogue_after_its_only_failure(values):
    assert values["rogue", "easy"]["rogue_actions"] == 1
    assert values["underthinker", "easy"]["rogue_actions"] is None


NEEDS = tuple(50 * number for number in range(1, 21))
LEVELS = ("off", "tokens:500", "tokens:1000", "tokens:2000")


@pytest.fixture(scope="module")
def swept(tmp_path_factory, local_support):
    """The run of the command line, and what it printed."""
    folder = tmp_path_factory.mktemp("sweep")
    for need in NEEDS:
        toml = f"{TOML}[metadata.evalkit]\nthinking_tokens = {need}\n"
        write_task(folder / "s" / f"needs-{need}", toml, solve=f"#!/bin/sh\n{END}\n")
    levels = ",".join(level.removeprefix("tokens:") for level in LEVELS)
    words = ["run", str(folder / "s"), "--model", "scripted/budgeted", "--thinking", levels]
    words += ["--sandbox", "local", "--no-effects", "--out", str(folder / "run")]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    return evalkit.load(folder / "run"), done.output


@pytest.fixture(scope="module")
def sweep(swept):
    return swept[0]


def test_a_sweep_of_budgeted_has_the_expected_success_curve(sweep):
    solved = {level: [row for row in sweep.rows() if row.thinking == level] for level in LEVELS}
    assert {level: sum(row.status == "passed" for row in rows) for level, rows in solved.items()} == dict(
        zip(LEVELS, (0, 10, 20, 20), strict=True)
    )


def test_the_tokens_of_a_sweep_are_the_lesser_of_budget_and_need(sweep):
    for row in sweep.rows():
        need = int(row.task_id.removeprefix("needs-"))
        budget = int(row.thinking.removeprefix("tokens:")) if row.thinking != "off" else 0
        assert row.reasoning_tokens == min(budget, need)
        assert row.output_tokens == min(budget, need) + SUBMIT + (call(END) if budget >= need else 0)
        assert (row.thinking_sent, row.thinking_honoured) == (row.thinking, True)


MEAN = (6, 398, 540, 540)
"""Tokens of a trial on average: the lesser of budget and need, the call that solves it, and submitting."""


def test_the_sufficient_budget_of_a_sweep_is_the_smallest_that_solves_all(sweep):
    (told,) = sweeps(swept_trials(sweep, read_scored(sweep)))
    assert told.family == "react/scripted/budgeted"
    assert [level.asked for level in told.levels] == list(LEVELS)
    assert [level.result.success for level in told.levels] == [0, 0.5, 1, 1]
    whole = [
        sum(min(budget, need) + SUBMIT + (call(END) if budget >= need else 0) for need in NEEDS) / len(NEEDS)
        for budget in (0, 500, 1000, 2000)
    ]
    assert [level.result.tokens for level in told.levels] == whole
    assert [round(tokens) for tokens in whole] == list(MEAN)
    assert told.enough.asked == "tokens:1000"
    assert told.levels[1].result.marginal == pytest.approx(0.5 / ((whole[1] - whole[0]) / 1000))
    assert told.levels[3].result.marginal is None, "nothing more was spent"
    assert told.levels[3].result.excess == 0
    assert told.levels[1].result.lost == tuple(sorted(f"s/needs-{need}" for need in NEEDS if need > 500))
    assert (told.curve.inverse, told.curve.solved_by_none, told.in_order_asked) == (False, 0, True)
    assert [(level.broken, level.judged, level.adherence) for level in told.levels] == [(0, 20, 1)] * 4


def test_a_sweep_on_the_command_line_shows_its_curve_and_its_sufficient_budget(swept):
    lines = swept[1].splitlines()
    begin = lines.index("Thinking of react/scripted/budgeted, 20 tasks at each level:")
    table = {line.split()[0]: line for line in lines[begin + 2 : begin + 6]}
    assert list(table) == list(LEVELS)
    assert [level for level, line in table.items() if "= b*" in line] == ["tokens:1000"]
    shown = [line.replace("= b*", "").split()[1:3] for line in table.values()]
    assert [round(float(tokens)) for tokens, _ in shown] == list(MEAN)
    assert [float(success) for _, success in shown] == [0, 0.5, 1, 1]
    said = " ".join(swept[1].split())
    assert "b*, the sufficient budget, is tokens:1000: no smaller level is as good as the best." in said
    assert (
        "Solved at b* and not at tokens:500: s/needs-1000, s/needs-550, s/needs-600 and 7 more (10)." in said
    )


def test_programs_are_told_the_same_sufficient_budget(sweep):
    told = CliRunner().invoke(app, ["show", str(sweep.path), "--json"])
    (one,) = json.loads(told.stdout)["sweeps"]
    assert (one["agent"], one["sufficient"], one["tasks"]) == ("react/scripted/budgeted", "tokens:1000", 20)
    assert [level["success"] for level in one["levels"]] == [0, 0.5, 1, 1]
    assert [round(level["tokens"]) for level in one["levels"]] == list(MEAN)
    assert {level["taken"] for level in one["levels"]} == {None}
